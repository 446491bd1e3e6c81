from .backtest import Backtest as Backtest
from .backtest import backtest as backtest
from .forecast import StartForecast as StartForecast
from .forecast import forecast as forecast
from .forks import Twin as Twin
from .run_times import Sampling as Sampling
