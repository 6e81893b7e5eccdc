"""What all tests share: on a busy machine, that something takes long is no failure."""

from hypothesis import HealthCheck, settings

settings.register_profile("dtg", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dtg")
