"""Have open answers judged by a model, and likened to the right ones by BERTScore.

Both say more of an answer than whether an accepted name stands in it. Each fills a column of the
scores that is null without it, and figures of two judges, or of two models of BERTScore, don't
compare: a build's scores hold the verdicts of one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark import Benchmark
from ehrkg.evaluation.asking.answer_names import names_of
from ehrkg.evaluation.results import Results
from ehrkg.evaluation.schema import SCORES, complete_scores
from ehrkg.evaluation.scoring import appraisals
from ehrkg.evaluation.scoring.bert_score import check_bert_score, with_bert_score
from ehrkg.evaluation.scoring.storing import put_scores
from ehrkg.foundation.embedding_models import embedding_model
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.growing import MANIFEST
from ehrkg.foundation.progress import Progress, Silent
from ehrkg.foundation.workspace import hold, read_final, read_manifest
from ehrkg.propose.models.budget import Budget
from ehrkg.propose.models.consent import Consent

if TYPE_CHECKING:
    from ehrkg.evaluation.models.judging import Judge
    from ehrkg.evaluation.models.one_model import Terms

JUDGES, BERT_SCORE = "judges", "bert_score"
"""In the manifest: who judged, whose verdicts stand there last; and the model of BERTScore."""


def appraise(
    benchmark: Benchmark,
    *,
    judge: str | Path | Callable[[list[str]], Any] | None = None,
    bert_score: str | Path | None = None,
    judge_url: str | None = None,
    limit: int | None = None,
    seed: int = 7,
    consent: Consent | None = None,
    budget: Budget | None = None,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    model_args: Mapping[str, Any] | None = None,
    connections: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Appraise the open answers that stand in a build's scores already, whoever gave them.

    ``judged`` and ``bert_f1`` of scores.parquet are filled in, and the manifest says by whom. The
    judge's answers are recorded like any model's: the same call goes on where it was stopped.

    Args:
        benchmark: a build's questions, or a part of them: Benchmark.open(OUT).
        judge: who says whether an answer names what counts as right: a model as ``evaluate`` takes
            it. It is shown the accepted names and the answer, nothing else of the record.
        bert_score: the model of BERTScore: a folder with an encoder, or a name as embedding models
            have ("MiniLM" comes with the package). It runs on this machine.
        judge_url: where the judge is asked, if not at its provider's address.
        limit: questions at most, drawn by task.
        seed: of that draw, and of the order in which a budget pays.
        consent: for a judge that is not on this machine; see ``evaluate``.
        budget: of the judge: calls, tokens and cost at most.
        temperature: of the judge.
        max_tokens: of a verdict; 16 by default.
        model_args: passed on to Inspect's provider of the judge.
        connections: calls at once.
        progress: told of each answer that was judged.

    Returns:
        The open answers, appraised.

    Raises:
        UsageError: nothing to appraise by or nothing to appraise; the questions are of no build; a
            package or consent is lacking; a part would stand beside the verdicts of another judge.
        ServiceError: the judge is not there. What it answered is kept.
    """
    from ehrkg.evaluation.models.generation import Generation
    from ehrkg.evaluation.models.one_model import Terms, build_of

    out = build_of(benchmark)
    if out is None:
        raise UsageError(
            "the scores of no build are here: these questions were not opened from one",
            todo="open one: Benchmark.open(OUT); or evaluate(..., judge=...) a model",
        )
    terms = Terms(
        generation=Generation(temperature, max_tokens, dict(model_args or {}), connections),
        seed=seed,
        consent=consent,
        budget=budget or Budget(),
        progress=progress or Silent(),
    )
    by = Appraising.wanted(benchmark, judge, bert_score, terms, judge_url=judge_url)
    if by is None:
        raise UsageError(
            "nothing to appraise answers by", todo="name a judge, or a model of BERTScore"
        )
    every = appraisals.open_answers(complete_scores(read_final(out, "scores")))
    part = benchmark if limit is None else benchmark.filter(format="oeq").sample(limit, by="task")
    ids = part.filter(format="oeq").to_arrow()["item_id"].combine_chunks()
    mine = every.filter(pc.is_in(every["item_id"], value_set=ids))
    if not mine.num_rows:
        raise UsageError(
            "no open answer to these questions stands in the scores",
            todo="let a model answer first: ehrkg evaluate DIR --model M",
        )
    by.check(whole=mine.num_rows == every.num_rows)
    return Results(by.of(mine), benchmark)


@dataclass(frozen=True)
class Appraising:
    """By what open answers are appraised.

    Attributes:
        benchmark: the questions.
        terms: how the judge is asked, and whether the build keeps what it says.
        judge: who judges; ``None`` for nobody.
        bert_score: the model of BERTScore; ``None`` for none.
    """

    benchmark: Benchmark
    terms: Terms
    judge: Judge | None
    bert_score: str | None

    @classmethod
    def wanted(
        cls,
        benchmark: Benchmark,
        judge: str | Path | Callable[[list[str]], Any] | None,
        bert_score: str | Path | None,
        terms: Terms,
        *,
        judge_url: str | None = None,
    ) -> Appraising | None:
        """What a caller wants; ``None`` where answers are to be scored by names alone.

        Raises:
            UsageError: the judge names nothing; a package or consent is lacking. Nothing was sent.
        """
        if judge is None and bert_score is None:
            return None
        asked = None
        if judge is not None:
            # What asks models loads slowly and needs an extra; BERTScore does without.
            from ehrkg.evaluation.models.judging import Judge

            asked = Judge.named(judge, terms, base_url=judge_url)
            asked.check_allowed(benchmark)
        if bert_score is not None:
            check_bert_score()
        return cls(benchmark, terms, asked, None if bert_score is None else str(bert_score))

    @property
    def out(self) -> Path | None:
        """The build that keeps what is found."""
        folder = self.benchmark.folder if self.terms.keep else None
        return folder if folder is not None and (folder / MANIFEST).is_file() else None

    def check(self, *, whole: bool) -> None:
        """Refuse to leave verdicts of two judges, or likenesses by two models, in one build.

        Args:
            whole: whether all open answers of the build are appraised.

        Raises:
            UsageError: some answers would keep another's verdict.
        """
        if self.out is None or whole:
            return
        manifest = read_manifest(self.out)
        before = (_judge_of(manifest), manifest.get(BERT_SCORE))
        for option, earlier, now in zip(
            ("--judge", "--bert-score"), before, self._told(), strict=True
        ):
            if earlier is not None and now is not None and not _alike(earlier, now):
                raise UsageError(
                    f"open answers of {self.out} were appraised by {earlier['model']}, and figures "
                    f"of two don't compare: {now['model']} would appraise some of them only",
                    todo=f"appraise by the former, asked as before; or all of them anew: "
                    f"ehrkg evaluate {self.out} {option} {now['model']}",
                )

    def of(self, scores: pa.Table) -> pa.Table:
        """Scores with their open answers appraised; a build's are brought up to date.

        Args:
            scores: the schema ``SCORES``.
        """
        with self._kept() as folder:
            found = appraisals.open_answers(scores)
            if not found.num_rows:
                return scores
            items = self.benchmark.filter(format="oeq").to_arrow()
            if self.judge is not None:
                assert folder is not None
                found = self.judge.judged(found, items, names_of(self.benchmark), folder)
            if self.bert_score is not None:
                right = zip(items["item_id"].to_pylist(), items["answer"].to_pylist(), strict=True)
                found = with_bert_score(found, dict(right), model=self.bert_score)
            if self.out is not None:
                self._store(self.out, found)
        return appraisals.with_appraisals(scores, found)

    def _kept(self) -> Any:
        """The build held, and where the judge's answers are recorded, if there is one."""
        if self.judge is not None:
            from ehrkg.evaluation.models.one_model import kept_in

            return kept_in(self.out, self.judge.model)
        return hold(self.out) if self.out is not None else nullcontext()

    def _store(self, out: Path, found: pa.Table) -> None:
        """What was found, into the scores and the manifest of a build that is held."""
        manifest = read_manifest(out)
        scores = complete_scores(read_final(out, "scores"))
        judge, bert = self._told()
        earlier = _judge_of(manifest)
        if judge is not None:
            if earlier is not None and not _alike(earlier, judge):
                scores = appraisals.without(scores, appraisals.JUDGED)
            others = [one for one in manifest.get(JUDGES, ()) if not _alike(one, judge)]
            manifest[JUDGES] = [*others, judge]
        if bert is not None:
            if not _alike(manifest.get(BERT_SCORE, bert), bert):
                scores = appraisals.without(scores, appraisals.BERT_F1)
            manifest[BERT_SCORE] = bert
        table = appraisals.with_appraisals(scores, found.select(SCORES.names))
        put_scores(out, manifest, table)

    def _told(self) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Judge and model of BERTScore, as they stand in the manifest."""
        bert = self.bert_score
        return (
            None if self.judge is None else self.judge.told(),
            None if bert is None else {"model": embedding_model(bert).name},
        )


def _judge_of(manifest: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Whose verdicts stand in a build's scores."""
    judges = manifest.get(JUDGES) or [None]
    found: Mapping[str, Any] | None = judges[-1]
    return found


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two would say the same of the same answer."""
    return all(one.get(name) == other.get(name) for name in ("model", "asked_as", "prompt"))
