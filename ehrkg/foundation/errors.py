"""The errors a user can meet. Each says where, what was found, what was expected, what to do."""

from __future__ import annotations

from pathlib import Path


class EhrkgError(Exception):
    """Base of every error that ehrkg raises on purpose.

    Attributes:
        exit_code: what the command line returns for it (1 a check failed, 2 the call was wrong,
            3 the input was wrong, 4 a service was not there).

    >>> try:
    ...     raise UsageError("no such task: 'surgery'", todo="use one of diagnosis, treatment")
    ... except EhrkgError as error:
    ...     print(error.exit_code, error)
    2 no such task: 'surgery'
      do: use one of diagnosis, treatment
    """

    exit_code = 1

    def __init__(self, message: str, *, todo: str = "") -> None:
        self.message = message
        self.todo = todo
        super().__init__(message + (f"\n  do: {todo}" if todo else ""))


class CheckError(EhrkgError):
    """A check on finished files did not hold."""

    exit_code = 1


class UsageError(EhrkgError):
    """The call was wrong: an unknown name, an option that does not fit."""

    exit_code = 2


class InputError(EhrkgError):
    """The input was wrong.

    Args:
        message: what is wrong, in one line.
        file: the file it stands in, if one.
        line: its line, from 1, header included.
        column: the name of its column.
        found: what stood there.
        expected: what should have stood there.
        todo: what the reader can do about it.

    >>> print(InputError("not a date", file="admissions.csv", line=7, column="admittime",
    ...                  found="yesterday", expected="YYYY-MM-DD HH:MM:SS", todo="mend the row"))
    admissions.csv, line 7, column admittime: not a date
      found: yesterday
      expected: YYYY-MM-DD HH:MM:SS
      do: mend the row
    """

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        column: str | None = None,
        found: object = None,
        expected: str = "",
        todo: str = "",
    ) -> None:
        self.what, self.file, self.line, self.column = message, file, line, column
        self.found, self.expected = found, expected
        where = ", ".join(
            part
            for part in (
                str(file) if file is not None else "",
                f"line {line}" if line is not None else "",
                f"column {column}" if column is not None else "",
            )
            if part
        )
        text = f"{where}: {message}" if where else message
        if found is not None:
            text += f"\n  found: {found}"
        if expected:
            text += f"\n  expected: {expected}"
        super().__init__(text, todo=todo)


class ServiceError(EhrkgError):
    """A service (a graph server, a model server) was not there or refused."""

    exit_code = 4
