"""The program `schedlab`: its verbs, and how every error ends."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from itertools import islice
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import schedlab
from schedlab.cli import (
    agents,
    analysis,
    archives,
    campaigns,
    charts,
    clusters,
    deferral,
    demo,
    energy,
    generation,
    learning,
    models,
    papers,
    predictions,
    reports,
    requests,
    schedules,
    search,
    site_capacity,
    site_copies,
    site_maintenance,
    site_reports,
    site_upgrade,
    site_variants,
    sites,
    slurm,
    slurm_audit,
    slurm_versions,
    starts,
    switching_off,
    trials,
    versions,
    workflows,
    workloads,
)
from schedlab.cli.option_words import in_options
from schedlab.cli.verbs import BEGIN, group_of, in_order, meant_by
from schedlab.errors import InputError, InputErrors, SchedlabError
from schedlab.imports import allow_imports
from schedlab.wording import bounded, shown

ALLOW_IMPORT = "--allow-import"


class Verbs(TyperGroup):
    """The verbs: an error made on purpose, or a full disk, ends with one line on stderr and exit code 1.

    Where several things are wrong, each has a line of its own.
    """

    def main(self, args: Sequence[str] | None = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """Run the program."""
        try:
            _refuse_halves(sys.argv[1:] if args is None else args)
            return super().main(_hoisted(list(sys.argv[1:] if args is None else args)), **kwargs)
        except InputErrors as errors:
            typer.echo(f"schedlab: {in_options(str(errors))}", err=True)
            sys.exit(1)
        except SchedlabError as error:
            message = in_options(str(error))
        except MemoryError as error:
            message = f"there is not enough memory{f': {error}' if str(error) else ''}"
        except RecursionError:
            message = "something in the input is nested too deeply"
        except OSError as error:
            # All files are written by atomic_path; what remains are names that cannot be looked up, and a full pipe.
            if error.filename is not None:
                message = f"{error.filename}: {error.strerror or error}"
            else:
                message = f"cannot write to standard output: {error.strerror or error}"
                # The interpreter would try again to write what is in the buffer when it ends.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        typer.echo(f"schedlab: {bounded(' '.join(message.split()))}", err=True)
        sys.exit(1)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb; its help shows no type behind options that take no value, and has its own line ends."""
        command: Any = super().get_command(ctx, cmd_name)
        if command is not None:
            _tidy(command)
            command.rich_help_panel = group_of(cmd_name)
        return command

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the verbs, in the order of their groups."""
        return in_order(super().list_commands(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb of a command line; of one that is elsewhere, the message says where."""
        if args and args[0] not in self.commands:
            inner = {verb: getattr(command, "commands", {}) for verb, command in self.commands.items()}
            if meant := meant_by(args[0], inner):
                ctx.fail(f"No such command '{args[0]}': {meant}{'' if meant.endswith('?') else '.'}")
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: Any) -> Any:
        """Return the program's own options, those without a value without a type."""
        return [_without_type(parameter) for parameter in super().get_params(ctx)]

    def invoke(self, ctx: Any) -> Any:
        """Run a verb."""
        result = super().invoke(ctx)
        # A full disk or a pipe that the reader has closed is noticed here, not when the interpreter is gone.
        sys.stdout.flush()
        return result


def _without_type(parameter: Any) -> Any:
    if getattr(parameter, "is_flag", False):
        parameter.metavar = ""
    return parameter


def _tidy(command: Any) -> None:
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in (command.help or "").split("\n\n"))
    for parameter in command.get_params(typer.Context(command)):
        _without_type(parameter)
    for verb in getattr(command, "commands", {}).values():
        _tidy(verb)


def _refuse_halves(args: Sequence[str]) -> None:
    """Raise InputError if a word is not text; names of files that are there may be anything."""
    for word in args:
        if any("\ud800" <= character <= "\udfff" for character in word) and not os.path.lexists(word):
            raise InputError(f"the argument {shown(word)} is not text in UTF-8")


def _hoisted(args: list[str]) -> list[str]:
    """Return arguments with --allow-import in front, where it is an option of the program, wherever it stood."""
    front: list[str] = []
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word == ALLOW_IMPORT:
            front += [word, *islice(words, 1)]
        else:
            (front if word.startswith(f"{ALLOW_IMPORT}=") else rest).append(word)
    return front + rest


app = typer.Typer(cls=Verbs, no_args_is_help=True, pretty_exceptions_enable=False, epilog=BEGIN)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"schedlab {schedlab.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
    allow_import: Annotated[
        list[str] | None,
        typer.Option(
            ALLOW_IMPORT,
            metavar="MODULE:CLASS",
            envvar="SCHEDLAB_ALLOW_IMPORT",
            help="Allow files that are read (campaigns, run directories) to import this class, or MODULE for all of a "
            "module; several between commas, or repeated, anywhere on the command line.",
        ),
    ] = None,
) -> None:
    """A laboratory for HPC batch scheduling: one trace, one command, results you can trust."""
    context.with_resource(allow_imports(*(allow_import or ())))


app.command()(demo.demo)
app.command()(workloads.inspect)
app.add_typer(generation.generate, name="generate")
app.command()(schedules.simulate)
app.command()(schedules.compare)
app.command()(analysis.analyse)
app.command()(analysis.explain)
app.command()(energy.energy)
app.command()(deferral.defer)
app.command()(switching_off.switch_off)
campaign = typer.Typer(no_args_is_help=True, help="Many simulations from one file: run, watch, compare.")
campaign.command()(campaigns.plan)
campaign.command()(campaigns.run)
campaign.command()(campaigns.status)
campaign.command()(campaigns.results)
campaign.command()(campaigns.task)
campaign.command()(archives.diff)
campaign.command()(archives.archive)
campaign.command()(archives.rerun)
campaign.command()(archives.sql)
campaign.command("list")(archives.list_campaigns)
campaign.command()(archives.search)
campaign.command()(archives.reindex)
campaign.command(hidden=True)(campaigns.element)
app.add_typer(campaign, name="campaign")
app.command()(predictions.predict)
app.command()(starts.when)
learn = typer.Typer(no_args_is_help=True, help="Policies learned from trial simulations.")
learn.command()(trials.trials)
learn.command()(learning.fit)
app.add_typer(learn, name="learn")
agent = typer.Typer(no_args_is_help=True, help="Agents trained to schedule; @agent:FILE is a scheduler.")
agent.command()(agents.train)
agent.command("show")(agents.show_agent)
app.add_typer(agent, name="agent")
model = typer.Typer(no_args_is_help=True, help="Workload models fitted to a log, and checked against it.")
model.command()(models.fit)
model.command("show")(models.show_model)
model.command()(models.check)
model.command()(models.scale)
app.add_typer(model, name="model")
workflow = typer.Typer(no_args_is_help=True, help="Workflows: tasks with dependencies.")
workflow.command("show")(workflows.show_workflows)
workflow.command()(workflows.convert)
workflow.command()(workflows.submit)
workflow.command()(workflows.results)
workflow.command()(workflows.export)
app.add_typer(workflow, name="workflow")
cluster = typer.Typer(no_args_is_help=True, help="Clusters: nodes, partitions and limits, from the files of a site.")
cluster.command("show")(clusters.show_cluster)
cluster.command("convert")(clusters.convert_cluster)
cluster.command("failures")(clusters.draw_failures)
cluster.command("reservations")(clusters.import_reservations)
cluster.command("mtbf")(clusters.estimate_mtbf)
cluster.command("downtimes")(clusters.import_downtimes)
app.add_typer(cluster, name="cluster")
site = typer.Typer(
    no_args_is_help=True, help="The twin of a site: import its slurm.conf and accounting, replay, and try changes."
)
site.command("import")(sites.import_site)
site.command("show")(sites.show_site)
site.command()(sites.calibrate)
site.command()(sites.what_if)
site.command("search")(site_variants.search)
site.command()(site_capacity.capacity)
site.command()(site_copies.anonymise)
site.command()(site_reports.explain)
site.command()(site_reports.months)
site.command()(site_maintenance.maintenance)
site.command()(site_upgrade.upgrade)
app.add_typer(site, name="site")
laboratory = typer.Typer(
    no_args_is_help=True,
    help="The real Slurm: run it with a clock that skips idle time, compare the model with it, and look at a "
    "production queue under another policy.",
)
laboratory.command()(slurm.run)
laboratory.command()(slurm_versions.versions)
laboratory.command()(slurm_versions.fetch)
laboratory.command()(slurm.validate)
laboratory.command()(slurm.shadow)
laboratory.command("audit-starts")(slurm_audit.audit_starts)
app.add_typer(laboratory, name="slurm")
app.command()(slurm.deploy)
app.command()(search.search)
app.command()(requests.requests)
app.command()(reports.report)
app.command()(charts.gantt)
app.command()(schedules.schedulers)
app.command()(workloads.fetch)
app.command()(workloads.convert)
reproduce = typer.Typer(
    no_args_is_help=True,
    help="Repeat the simulations of a paper, or of our own study, and print published numbers beside ours.",
)
for paper in (
    papers.sc15,
    papers.sc17,
    papers.sc20,
    papers.fgd,
    papers.thesis,
    papers.icpp19,
    papers.scsf,
    papers.order,
    papers.when,
):
    reproduce.command()(paper)
app.add_typer(reproduce, name="reproduce")
app.command("warm-up")(versions.warm_up)
app.command()(versions.versions)


def main() -> None:
    """Run the command line; exit code 0 is done, 1 wrong input or output, 2 wrong usage."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # of libraries, to whoever develops with them; python -W shows them
    app(prog_name="schedlab")
