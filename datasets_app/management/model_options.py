"""The options of commands that have a model write."""

from argparse import ArgumentParser
from typing import Any

from datasets_app.domain.generation.model_writer import DEFAULT_CONCURRENCY
from datasets_app.operations.make_model_writer import OFFLINE, ModelWish


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        default=OFFLINE,
        metavar="MODEL",
        help="offline (the default), or openai:NAME behind an OpenAI-compatible endpoint",
    )
    parser.add_argument(
        "--base-url", metavar="URL", help="of the endpoint; default: the first of ALIGNMENTER_LLM_ENDPOINTS"
    )
    parser.add_argument("--temperature", type=float, metavar="T", help="default: the model's own")
    parser.add_argument(
        "--concurrency",
        type=int,
        default=DEFAULT_CONCURRENCY,
        metavar="N",
        help="sessions asked for at a time",
    )
    parser.add_argument(
        "--max-tokens-total",
        type=int,
        metavar="N",
        help="what all calls together, also resumed ones, may use",
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with what an earlier run of the same plan has left"
    )


def model_wish(given: dict[str, Any]) -> ModelWish:
    return ModelWish(
        given["model"],
        given["base_url"],
        given["temperature"],
        given["concurrency"],
        given["max_tokens_total"],
    )
