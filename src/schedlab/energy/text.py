"""The energy of a schedule in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.schedule.summary import duration, three_digits
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.energy.accounting import EnergyAccount

WORDS = {
    "jobs": "jobs",
    "idle": "what no job holds",
    "off": "off",
    "boot": "booting",
    "base": "base",
    "overhead": "cooling and losses",
}


def energy_text(kwh: float) -> str:
    """Return an amount of energy in the unit that suits it.

    Examples
    --------
    >>> energy_text(0.5), energy_text(12_345), energy_text(2_500_000)
    ('0.5 kWh', '12.3 MWh', '2.5 GWh')
    """
    for size, unit in ((1e6, "GWh"), (1e4, "MWh")):
        if abs(kwh) >= size:
            return f"{three_digits(kwh / (1e6 if unit == 'GWh' else 1e3))} {unit}"
    return f"{three_digits(kwh)} kWh"


def power_text(watts: float) -> str:
    """Return a power in the unit that suits it.

    Examples
    --------
    >>> power_text(300), power_text(45_600), power_text(2_100_000)
    ('300 W', '45.6 kW', '2.1 MW')
    """
    for size, unit in ((1e6, "MW"), (1e4, "kW")):
        if abs(watts) >= size:
            return f"{three_digits(watts / (1e6 if unit == 'MW' else 1e3))} {unit}"
    return f"{three_digits(watts)} W"


def account_text(account: EnergyAccount) -> str:
    """Return what a person wants to know of the energy of a schedule."""
    total = sum(account.joules.values())
    parts = [
        f"{WORDS[name]} {part / total:.1%}" for name, part in account.joules.items() if part and name in WORDS and total
    ]
    mean = account.kwh * 3.6e6 / max(account.seconds, 1)
    lines = [
        f"  energy            {energy_text(account.kwh)} in {duration(account.seconds)}: {', '.join(parts)}",
        f"  power             mean {power_text(mean)}, max {power_text(float(account.power.values.max()))}",
    ]
    costs = [] if account.cost is None else [f"{account.cost:,.2f} {account.currency}".strip()]
    costs += [] if account.co2 is None else [f"{three_digits(account.co2)} kg of CO2"]
    if costs:
        lines.append(f"  costs             {', '.join(costs)}")
    if account.above_cap is not None:
        above = duration(account.above_cap) if account.above_cap else "never"
        lines.append(f"  above the cap     {above}")
    if account.estimated:
        runs = count_of(account.estimated, "run")
        lines.append(f"  not measured      {runs}, for which the power model speaks")
    return "\n".join(lines)
