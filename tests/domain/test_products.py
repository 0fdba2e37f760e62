"""Products that look like people, and people who are called like products."""

import pytest

from datasets_app.domain.pii.names.names import load_name_finder


def find_names(text: str) -> list[str]:
    matches = load_name_finder(("builtin",)).find(text)
    return [text[match.start : match.end] for match in matches]


@pytest.mark.parametrize(
    "text",
    [
        "Have you tried Kibana and Grafana?",
        "I installed Lenovo drivers and Raspberry Pi OS",
        "I got a Baconator at Wendy's yesterday",
        "is the Jenkins server down?",
        "the service is written in Julia",
        "we use Django with Julia 1.9",
        "Cassandra, Kafka and Hadoop",
        "I switched to Hugo last year",
        "the Oscar plan and the Ada compiler",
        "MinHash and RDFLib are in the POSIX layer, see MyModel",
        "call gus(max=3) and wendell=60 on the EBCDIC terminal",
        "Lamport clocks would fix this",
        "Cholesky fails, not positive definite",
        "Ray actors keep dying",
        "Luigi won't compile on the new box",
    ],
)
def test_products_are_no_people(text: str) -> None:
    assert find_names(text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("my name is Julia", ["Julia"]),
        ("I talked to Julia about the Jenkins server", ["Julia"]),
        ("Dear Ruby, thanks for the help", ["Ruby"]),
        ("please ask Oscar to call me", ["Oscar"]),
        ("I gave it to Mrs. Jenkins on Monday", ["Jenkins"]),
        ("James Dyson and Edward Jones", ["James Dyson", "Edward Jones"]),
        ("Carter's laptop is broken", ["Carter"]),
        ("Mary McDonald, DeShawn Ford and JoAnn Chase", ["Mary McDonald", "DeShawn Ford", "JoAnn Chase"]),
        ("Maria Fisher and Yates Mann left", ["Maria Fisher", "Yates Mann"]),
        ("my brother Luigi won't boot his laptop", ["Luigi"]),
        ("Ray kept asking, and Thor is my son", ["Ray", "Thor"]),
    ],
)
def test_people_who_are_called_like_products_are_found(text: str, names: list[str]) -> None:
    assert find_names(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "Julia, Ruby and Crystal all have macros",
        "which language would you pick, Haskell or Ruby?",
        "Trino on Iceberg, Hudi or Delta",
        "the @media (max-width: 600px) rule never applies",
        "const wendy = new Wendy({ retries: 3 })",
        "import { Carl } from '@acme/carl-utils'",
        "`Frank.toString()` returns undefined",
        "public class Morgan implements Runnable",
        "Hopper and Ampere both have it, Pascal and Maxwell don't",
        "the Kestrin sensors draw 6 A each",
        "Jenkins läuft wieder, Nexus war voll",
    ],
)
def test_names_in_technical_texts_are_no_people(text: str) -> None:
    assert find_names(text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ruby pushed the fix for the Docker build", ["Ruby"]),
        ("ask Julia why the kernel module won't compile", ["Julia"]),
        ("my colleague Jenkins broke the Gradle build", ["Jenkins"]),
        ("the pull request was reviewed by Ruby, CI is green", ["Ruby"]),
        ("my name is kirin engelhart", ["kirin engelhart"]),
        ("Jabra Nicola was from Haifa", ["Jabra Nicola"]),
        ("is Siri still working there? tell Siri I said hi", ["Siri", "Siri"]),
        ("Julia and Ruby are at the beach", ["Julia", "Ruby"]),
        ("Ruby fixed the Docker build", ["Ruby"]),
        ("Pascal installed Debian on the NAS for me", ["Pascal"]),
        ("had a call with Hiroshi from AWS about S3 costs", ["Hiroshi"]),
        ("EMAIL FROM JANE ROE: the API is down", ["JANE ROE"]),
    ],
)
def test_people_in_technical_texts_are_found(text: str, names: list[str]) -> None:
    assert find_names(text) == names
