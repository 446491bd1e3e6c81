from .backtests import Backtest as Backtest
from .backtests import backtest as backtest
from .forks import Twin as Twin
from .recalibration import Outcomes as Outcomes
from .run_times import Sampling as Sampling
from .scores import Score as Score
from .start_forecast import StartForecast as StartForecast
from .start_forecast import forecast as forecast
