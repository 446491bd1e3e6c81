from .accounting import EnergyAccount as EnergyAccount
from .accounting import account as account
from .capping import capped as capped
from .measures import metrics as metrics
from .power import GroupPower as GroupPower
from .power import Power as Power
from .power_file import read_power as read_power
from .series import Series as Series
