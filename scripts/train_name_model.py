"""Trains the packaged name model. See docs/name-model.md for the corpora and the command.

python -m scripts.train_name_model --train train.jsonl.gz --multidogo names.jsonl --names pool.json.gz …
"""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from datasets_app.domain.pii.names import gazetteer as packaged_gazetteer
from datasets_app.domain.pii.names.name_network import FastTagger, read_weights
from datasets_app.domain.pii.names.names import PIPELINE_PATH
from scripts.name_model import corpora, gazetteer, scoring, templates, training
from scripts.name_model.corpora import Text
from scripts.name_model.fillers import Fillers


def main() -> None:
    options = _parse_options()
    training_texts, turns, held_out = _load_corpora(options)
    packaged_gazetteer.GAZETTEER_PATH.parent.mkdir(parents=True, exist_ok=True)
    packaged_gazetteer.GAZETTEER_PATH.write_text(
        gazetteer.build_gazetteer(options.names, options.places, options.words, training_texts, turns),
        encoding="utf-8",
        newline="\n",
    )
    print(
        f"{len(training_texts)} texts of corpora; gazetteer "
        f"{packaged_gazetteer.GAZETTEER_PATH.stat().st_size / 1e6:.1f} MB"
    )
    training_texts = [corpora.mark_unsure_spans(text) for text in training_texts + turns]
    fillers = Fillers(options.names, options.places, options.seed)
    training_texts += templates.generate_sentences(
        fillers, with_people=options.sentences, without_people=options.sentences * 2 // 3
    )
    nlp = training.new_pipeline(options.width, options.depth, options.seed)
    if options.start_from:
        training.load_weights(nlp, options.start_from)
    training.train_pipeline(nlp, training_texts, options.epochs, options.seed, options.rate)
    nlp = _save_pipeline(nlp, training.new_pipeline(options.width, options.depth, options.seed), options.out)
    tagger = FastTagger(read_weights(nlp.get_pipe("alignmenter_names").model.to_bytes()))
    scores = {name: scoring.score_corpus(tagger, corpus) for name, corpus in held_out.items()}
    print(scoring.format_scores(scores))
    if options.scores:
        options.scores.write_text(json.dumps(scores, indent=1) + "\n")


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", type=Path, nargs="+", required=True, help="JSONL of text and spans")
    parser.add_argument(
        "--multidogo", type=Path, required=True, help="customer turns in lower case, as JSONL"
    )
    parser.add_argument(
        "--leave-out", choices=sorted(corpora.DOMAIN_SHARES), help="a domain of it kept for the score"
    )
    parser.add_argument(
        "--dialogues", type=Path, help="conversation JSONL without people, as far as possible"
    )
    parser.add_argument("--names", type=Path, required=True, help="names by locale")
    parser.add_argument("--places", type=Path, required=True, help="places and companies")
    parser.add_argument("--words", type=Path, required=True, help="ordinary English words, one a line")
    parser.add_argument("--score-on", type=Path, nargs="*", default=[], help="JSONL never trained on")
    parser.add_argument("--scores", type=Path, help="where the scores are written as JSON")
    parser.add_argument("--out", type=Path, default=PIPELINE_PATH, help="where the pipeline is written")
    parser.add_argument("--sentences", type=int, default=60_000, help="sentences from templates with people")
    parser.add_argument("--start-from", type=Path, help="pipeline whose weights training continues from")
    parser.add_argument("--rate", type=float, default=0.002, help="the steepest learning rate")
    parser.add_argument("--epochs", type=float, default=3.0)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _load_corpora(options: argparse.Namespace) -> tuple[list[Text], list[Text], dict[str, list[Text]]]:
    """Training texts, customer turns and texts used only for scoring."""
    training_texts = [text for path in options.train for text in corpora.read_texts(path)]
    held_out = {path.name.split(".")[0]: corpora.read_texts(path) for path in options.score_on}
    turns = corpora.read_texts(options.multidogo, weight=1.5)
    if options.leave_out:
        apart = corpora.domain_range(turns, options.leave_out)
        held_out[f"multidogo {options.leave_out}"] = [turns[number] for number in apart]
        turns = [turn for number, turn in enumerate(turns) if number not in apart]
    if options.dialogues:
        training_texts += corpora.read_dialogues(options.dialogues, share=0.3, seed=options.seed)
    return training_texts, turns, held_out


def _save_pipeline(trained: Any, fresh: Any, path: Path) -> Any:
    """Written from a pipeline that never saw a text: its vocabulary holds no word of the corpora."""
    network = fresh.get_pipe("alignmenter_names").model
    network.from_bytes(trained.get_pipe("alignmenter_names").model.to_bytes())
    shutil.rmtree(path, ignore_errors=True)
    fresh.to_disk(path)
    return fresh


if __name__ == "__main__":
    main()
