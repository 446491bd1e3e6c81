"""Environments for agents that learn to schedule: `schedlab.gym.SchedulingEnv`, `SchedulingVectorEnv`, `evaluate`.

They need Gymnasium, the extra "gym". Where it is installed, importing this package registers their ids.

>>> import gymnasium
>>> import schedlab.gym
>>> env = gymnasium.make("schedlab/Next-v0", window=50)
>>> observation, info = env.reset(seed=1)
>>> observation.shape
(128, 8)
"""

import lazy_loader

from schedlab.gym.registration import register

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

register()
