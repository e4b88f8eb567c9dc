"""Help and usage errors of the command, in the reader's language."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from hiperplano.messages.catalogue import translator

_ = translator("terminal")


class _Translated:
    """Mixin that translates typer's texts to the reader's language."""

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.help = _("Show this help.")
        return option

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _translate_headings()
        super().format_help(ctx, formatter)  # type: ignore[misc]

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        pieces = self.collect_usage_pieces(ctx)  # type: ignore[attr-defined]
        formatter.write_usage(ctx.command_path, " ".join(pieces), prefix=_("Usage: "))


class Command(_Translated, TyperCommand):
    """A subcommand."""


class Group(_Translated, TyperGroup):
    """The command, which lists its subcommands in the order of their use."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)


def _translate_headings() -> None:
    """Translate the headings of the help.

    typer keeps them in a module that is slow to import and only needed for help.
    """
    from typer import rich_utils

    rich_utils.OPTIONS_PANEL_TITLE = _("Options")
    rich_utils.ARGUMENTS_PANEL_TITLE = _("Arguments")
    rich_utils.COMMANDS_PANEL_TITLE = _("Commands")
    rich_utils.DEFAULT_STRING = _("[default: {}]")
    rich_utils.REQUIRED_LONG_STRING = _("[required]")


def is_misuse(problem: BaseException) -> bool:
    """Whether an exception is a usage error."""
    return "ClickException" in _kinds(problem) or "UsageError" in _kinds(problem)


def has_shown_help(problem: BaseException) -> bool:
    """Whether the command was called without arguments, and has shown its help."""
    return "NoArgsIsHelpError" in _kinds(problem)


def explain_misuse(problem: Any) -> str:
    """Explain a usage error, and where the help is."""
    context = getattr(problem, "ctx", None)
    command = context.command_path if context is not None else "hiperplano"
    text = _sentence(problem).rstrip(".")
    return _("Error: {text}. See {command} --help.", text=text, command=command)


def _kinds(problem: BaseException) -> set[str]:
    """Exception classes by name, since typer has had click's exceptions in several places."""
    return {kind.__name__ for kind in type(problem).__mro__}


def _sentence(problem: Any) -> str:
    kinds = _kinds(problem)
    if "MissingParameter" in kinds:
        return _("{name} is missing", name=_name(problem))
    if "BadParameter" in kinds:
        return _("{name}: {why}", name=_name(problem), why=problem.message.rstrip("."))
    if "NoSuchOption" in kinds:
        near = ", ".join(problem.possibilities or [])
        hint = _(" (did you mean {near}?)", near=near) if near else ""
        return _("there is no option {name}", name=problem.option_name) + hint
    if "unexpected extra argument" in problem.message:
        return _("too many arguments {which}", which=problem.message.partition("argument")[2].partition(" ")[2])
    if "No such command" in problem.message:
        return _("there is no command {name}", name=problem.message.split("'")[1])
    return str(problem.format_message())


def _name(problem: Any) -> str:
    if problem.param_hint is not None:
        return str(problem.param_hint)
    if problem.param is None:
        return "?"
    named = problem.param.param_type_name == "option"
    return str(max(problem.param.opts, key=len) if named else problem.param.metavar)
