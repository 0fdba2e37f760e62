"""The recipes of the docs do what they say, as they stand there."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from datasets_app.access.scopes import SCOPES
from datasets_app.access.tokens import create_token
from datasets_app.models import Dataset, EvaluationRun, Persona
from datasets_app.releasing.release_dataset import release_dataset
from tests.alignmenter_tool import PROGRAMS
from tests.api.calls import make_user

pytestmark = pytest.mark.xdist_group("client")

PROJECT = Path(__file__).resolve().parents[2]
RECIPES = PROJECT / "docs" / "recipes.md"
NOTEBOOK = PROJECT / "docs" / "recipes" / "agreement.ipynb"


def list_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", RECIPES.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def at_work(
    live_server: Any, media_root: Path, processes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder of somebody with a token for a server that has the demonstration data."""
    call_command("load_demo", verbosity=0)
    processes.start("worker")
    _, secret = create_token(make_user("lead", "recipes_lead"), name="recipes", scopes=list(SCOPES))
    _, curators = create_token(make_user("curator", "recipes"), name="recipes", scopes=list(SCOPES))
    program = tmp_path / "bin" / "alignmenter-datasets"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m alignmenter_datasets "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("ALIGNMENTER_SERVER", live_server.url)
    monkeypatch.setenv("ALIGNMENTER_TOKEN", curators)
    monkeypatch.setenv("LEADS_TOKEN", secret)
    return tmp_path


def test_the_recipes_run(at_work: Path) -> None:
    for block in list_blocks("sh"):
        done = subprocess.run(
            ["sh", "-e"], input=block, cwd=at_work, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert len((at_work / "evaluation.jsonl").read_text().splitlines()) == 60
    assert list(at_work.glob("demo-*.jsonl.gz"))
    environment = os.environ | {"ALIGNMENTER_TOKEN": os.environ["LEADS_TOKEN"]}
    for block in list_blocks("python"):
        subprocess.run([sys.executable, "-c", block], cwd=at_work, env=environment, check=True, timeout=120)
    assert re.fullmatch(
        r'alignmenter_agreement_alpha\{dataset="demo_conversations"\} [-\d.]+\n',
        (at_work / "agreement.prom").read_text(),
    )


def test_the_workflow_runs_alignmenter_on_a_release(at_work: Path) -> None:
    dataset = Dataset.objects.get()
    (at_work / "work").mkdir()
    release_dataset(dataset, folder=at_work / "work", actor=None)
    (at_work / "persona.yaml").write_text(Persona.objects.get().yaml)
    program = at_work / "bin" / "alignmenter"
    program.write_text(f'#!/bin/sh\nexec "{PROGRAMS / "alignmenter"}" "$@"\n')
    program.chmod(0o755)
    [block] = list_blocks("yaml")
    job = yaml.safe_load(block)["jobs"]["evaluate"]
    own = {name: value for name, value in job["env"].items() if name not in os.environ}
    assert own.keys() == {"ALIGNMENTER_DEFAULT_PERSONA", "ALIGNMENTER_EMBEDDING_PROVIDER"}
    steps = [step["run"] for step in job["steps"] if "run" in step]
    assert steps[0].startswith("pip install alignmenter==0.3.5 ")
    for step in steps[1:]:
        done = subprocess.run(
            ["bash", "-e"],
            input=step,
            cwd=at_work,
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    run = EvaluationRun.objects.get()
    [report] = at_work.glob("reports/*/results.json")
    reported = json.loads(report.read_text())["scores"]["primary"]
    assert run.whole["authenticity"]["mean"] == reported["authenticity"]["mean"]
    assert (len(run.reply_scores), run.release.version) == (30, "1.0.0")


def test_the_notebook_goes_from_a_token_to_a_chart(at_work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("ALIGNMENTER_TOKEN", os.environ["LEADS_TOKEN"])
    monkeypatch.delenv("MPLBACKEND")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    code = "".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert code.strip() == list_blocks("python")[0].strip()
    assert len([line for line in code.splitlines() if line]) <= 10
    run = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(at_work)}}).execute()
    pictures = [
        output
        for cell in run.cells
        for output in cell.get("outputs", ())
        if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == 1
    assert "aldu_" not in json.dumps(run)
