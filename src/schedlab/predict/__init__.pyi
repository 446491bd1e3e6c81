from .adapters import RiverPredictor as RiverPredictor
from .adapters import SklearnPredictor as SklearnPredictor
from .model import PredictionModel as PredictionModel
from .validation import Validation as Validation
from .validation import validate as validate
