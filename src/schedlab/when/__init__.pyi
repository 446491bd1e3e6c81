from .forecast import StartForecast as StartForecast
from .forecast import forecast as forecast
from .forks import Twin as Twin
from .run_times import Sampling as Sampling
