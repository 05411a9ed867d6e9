"""What a knowledge graph can be asked; all of it read-only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ehrkg.foundation.errors import UsageError
from ehrkg.graph import GraphStore, catalogue
from ehrkg.graph.explain import explain_template
from ehrkg.graph.explanation import Explanation
from ehrkg.graph.neighbourhood import Neighbourhood, neighbourhood


class Asked:
    """The questions that ``KnowledgeGraph`` answers out of its store.

    Attributes:
        store: the engine that holds the graph.
    """

    store: GraphStore

    def query(self, cypher: str, **parameters: Any) -> pa.Table:
        """Answer a read-only Cypher query with a table.

        Args:
            cypher: one statement, without writes and without access to files or network.
            parameters: its ``$parameters``, always bound.

        Raises:
            UsageError: the query is refused, or the engine does not understand it.
        """
        if not isinstance(cypher, str):
            raise UsageError(
                f"{cypher!r} is no query", todo='give one as text: kg.query("MATCH ... RETURN ...")'
            )
        return self.store.query(cypher, **parameters)

    @property
    def audits(self) -> catalogue.Queries:
        """The named queries that ship, audits and subsets; ``audit`` answers one."""
        return catalogue.named_queries()

    def audit(self, name: str, /, **parameters: Any) -> pa.Table:
        """Answer a named query, or a file of one's own, with a table; read-only.

        Args:
            name: as in ``kg.audits``, with or without its folder, or the path of a file.
            parameters: its parameters; the others keep their defaults.

        Raises:
            UsageError: there is no such query or parameter, or a value is of another type.
        """
        return catalogue.find(name).ask(self.store, parameters)

    def explain(self, item: str | Mapping[str, Any]) -> Explanation:
        """The chain from a question to the rows of the tables and the knowledge behind it.

        Args:
            item: an item's id, or a template's, or an item as iterating over a benchmark gives it.

        Raises:
            UsageError: the graph has no such template.
        """
        name = item if isinstance(item, str) else str(item["item_id"])
        return explain_template(self.store, name.split(".", 1)[0])

    def neighbourhood(self, code: str) -> Neighbourhood:
        """What surrounds a code: its concepts, relations on either side, and their evidence.

        Args:
            code: a Code id, such as ``ICD10CM:I50.23``.

        Raises:
            UsageError: the graph holds no such code.
        """
        return neighbourhood(self.store, code)
