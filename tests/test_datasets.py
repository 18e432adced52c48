"""Data sets: fetched once, checked, kept only where they are right."""

import hashlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

import boirl
from boirl.datasets import DataSet, data_folder, fetch
from boirl.errors import BoirlError, InvalidInputError, StorageError
from boirl.registry import Registry

RECORDED = Path(__file__).parents[2] / "shared" / "data"
FILES = {"roads.txt": b"1 2 0.5\n2 1 0.5\n" * 50, "trips.txt": b"1 1 2\n"}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own, and a data set of two small files."""
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    known: Registry[DataSet] = Registry("data set", "boirl-tests.datasets")
    known.register("tiny", DataSet("two files", sums))
    monkeypatch.setattr("boirl.datasets.DATASETS", known)
    return tmp_path / "cache" / "tiny"


@pytest.fixture
def folder(tmp_path):
    where = tmp_path / "source"
    where.mkdir()
    for name, content in FILES.items():
        (where / name).write_bytes(content)
    return where


@pytest.fixture
def server():
    """Serves `files` at `address`, notes what was `asked` for; `send` says how to answer."""
    state = SimpleNamespace(files=dict(FILES), asked=[], send=None)

    def whole(handler, content):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def answer(handler):
        name = handler.path.removeprefix("/data/")
        state.asked.append(name)
        if name not in state.files:
            handler.send_error(404)
        else:
            state.send(handler, state.files[name])

    state.send = whole
    methods = {"do_GET": answer, "log_message": lambda *arguments: None}
    handler = type("Handler", (BaseHTTPRequestHandler,), methods)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        state.address = f"http://127.0.0.1:{listening.server_port}/data"
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        yield state
        listening.shutdown()
        thread.join()


def kept(cache):
    """The content of all files in the cache, hidden and temporary ones too."""
    return {path.name: path.read_bytes() for path in cache.rglob("*")}


def test_a_folder_is_copied_to_the_cache(folder, cache):
    reported: list[str] = []
    assert fetch("tiny", str(folder), reported.append) == cache
    assert reported == list(FILES)
    assert kept(cache) == FILES
    assert data_folder("tiny") == cache


def test_files_come_from_a_server(server, cache):
    fetch("tiny", server.address)
    assert kept(cache) == FILES


def test_an_address_may_end_with_a_slash(server, cache):
    fetch("tiny", server.address + "/")
    assert server.asked == list(FILES)
    assert kept(cache) == FILES


def test_files_come_from_an_address_of_a_folder(folder, cache):
    fetch("tiny", folder.as_uri())
    assert kept(cache) == FILES


def test_files_that_are_right_are_not_fetched_again(server, cache):
    fetch("tiny", server.address)
    reported: list[str] = []
    fetch("tiny", server.address, reported.append)
    assert server.asked == list(FILES)
    assert reported == list(FILES)
    (cache / "trips.txt").unlink()
    fetch("tiny", server.address)
    assert server.asked == [*FILES, "trips.txt"]


def test_a_damaged_file_in_the_cache_is_fetched_again(folder, cache):
    fetch("tiny", str(folder))
    (cache / "roads.txt").write_bytes(b"damaged")
    fetch("tiny", str(folder))
    assert kept(cache) == FILES


def test_a_wrong_checksum_names_file_found_and_expected(server, cache):
    server.files["roads.txt"] = b"another version"
    found, expected = (
        hashlib.sha256(content).hexdigest()[:12]
        for content in (b"another version", FILES["roads.txt"])
    )
    message = rf"roads\.txt from .*15 bytes .*{found}.*expected {expected}"
    with pytest.raises(StorageError, match=message):
        fetch("tiny", server.address)
    assert kept(cache) == {}


def test_a_wrong_file_leaves_the_right_ones_that_were_there(folder, cache):
    fetch("tiny", str(folder))
    (cache / "trips.txt").unlink()
    for name in FILES:
        (folder / name).write_bytes(b"wrong")
    with pytest.raises(StorageError, match=r"trips\.txt"):
        fetch("tiny", str(folder))
    assert kept(cache) == {"roads.txt": FILES["roads.txt"]}


def test_a_wrong_file_does_not_replace_an_older_version(folder, cache):
    fetch("tiny", str(folder))
    (cache / "roads.txt").write_bytes(b"an older version")
    (folder / "roads.txt").write_bytes(b"wrong")
    with pytest.raises(StorageError, match=r"roads\.txt"):
        fetch("tiny", str(folder))
    assert kept(cache) == {**FILES, "roads.txt": b"an older version"}


def test_a_missing_file_is_named(folder, cache):
    (folder / "trips.txt").unlink()
    with pytest.raises(InvalidInputError, match=r"trips\.txt' could not be read \(No such file"):
        fetch("tiny", str(folder))
    assert kept(cache) == {"roads.txt": FILES["roads.txt"]}
    with pytest.raises(StorageError, match=r"trips\.txt' could not be read"):
        fetch("tiny", folder.as_uri())
    with pytest.raises(InvalidInputError, match="expected a folder with"):
        fetch("tiny", str(folder / "nowhere"))


def test_a_file_that_the_server_lacks_is_reported(server, cache):
    del server.files["trips.txt"]
    with pytest.raises(StorageError, match=r"/data/trips\.txt' could not be read .*404"):
        fetch("tiny", server.address)
    assert kept(cache) == {"roads.txt": FILES["roads.txt"]}


def test_a_server_that_nobody_runs_is_reported(cache):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(StorageError, match=r"could not be read .*refused"):
        fetch("tiny", address)
    assert kept(cache) == {}


def test_a_server_that_never_answers_is_reported(cache, monkeypatch):
    monkeypatch.setattr("boirl.datasets.TIMEOUT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(StorageError, match=r"could not be read .*timed out"):
            fetch("tiny", address)
    assert kept(cache) == {}


def test_an_interrupted_download_is_reported_and_not_kept(server, cache):
    def half(handler, content):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[: len(content) // 2])

    server.send = half
    with pytest.raises(StorageError, match=r"roads\.txt"):
        fetch("tiny", server.address)
    assert kept(cache) == {}


def test_an_endless_stream_is_refused(server, cache, monkeypatch):
    sent: list[int] = []

    def endless(handler, content):
        handler.send_response(200)
        handler.end_headers()
        try:
            while len(sent) < 100_000:
                handler.wfile.write(bytes(1024))
                sent.append(1024)
        except OSError:
            pass

    server.send = endless
    known = dict(boirl.datasets.DATASETS["tiny"].checksums)
    limited: Registry[DataSet] = Registry("data set", "boirl-tests.datasets")
    limited.register("tiny", DataSet("two files", known, max_bytes=5000))
    monkeypatch.setattr("boirl.datasets.DATASETS", limited)
    with pytest.raises(StorageError, match=r"roads\.txt' has more than 5000 bytes.*another source"):
        fetch("tiny", server.address)
    assert kept(cache) == {}
    assert len(sent) < 100_000


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless file here")
def test_an_endless_file_is_refused(folder, cache, monkeypatch):
    (folder / "roads.txt").unlink()
    (folder / "roads.txt").symlink_to("/dev/zero")
    known = dict(boirl.datasets.DATASETS["tiny"].checksums)
    limited: Registry[DataSet] = Registry("data set", "boirl-tests.datasets")
    limited.register("tiny", DataSet("two files", known, max_bytes=5000))
    monkeypatch.setattr("boirl.datasets.DATASETS", limited)
    for source in (str(folder), folder.as_uri()):
        with pytest.raises(StorageError, match="more than 5000 bytes"):
            fetch("tiny", source)
    assert kept(cache) == {}


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1/a folder", "http://127.0.0.1:port", "http://[1", "http://"]
)
def test_an_address_that_is_none_is_reported(address):
    with pytest.raises(BoirlError, match="http:"):
        fetch("tiny", address)


def test_a_cache_that_cannot_be_written_is_reported(folder, tmp_path):
    (tmp_path / "cache").write_text("a file where the cache should be")
    with pytest.raises(StorageError, match="could not be written"):
        fetch("tiny", str(folder))


def test_something_else_in_place_of_a_file_is_reported(folder, cache):
    (cache / "roads.txt").mkdir(parents=True)
    with pytest.raises(StorageError, match=r"roads\.txt"):
        fetch("tiny", str(folder))


def test_a_full_disk_is_reported_and_leaves_nothing(folder, cache, monkeypatch):
    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        fetch("tiny", str(folder))
    assert kept(cache) == {}


def test_data_that_were_never_fetched_name_the_command(folder, cache):
    with pytest.raises(InvalidInputError, match="`boirl data tiny --from FOLDER_OR_URL`"):
        data_folder("tiny")
    fetch("tiny", str(folder))
    (cache / "trips.txt").unlink()
    with pytest.raises(InvalidInputError, match=r"trips\.txt is missing"):
        data_folder("tiny")


def test_a_folder_that_is_given_is_taken(folder):
    assert data_folder("tiny", folder) == folder
    assert data_folder("tiny", str(folder)) == folder


@pytest.mark.parametrize("name", ["nothing", ""])
def test_an_unknown_data_set_is_reported(name, folder, tmp_path):
    message = f"there is no data set {name!r}; expected one of tiny"
    with pytest.raises(InvalidInputError, match=message):
        fetch(name, str(folder))
    with pytest.raises(InvalidInputError, match=message):
        data_folder(name)
    assert not (tmp_path / "cache").exists()


def test_the_command_fetches_and_finds(command, folder, cache):
    code, out, errors = command("data", "tiny", "--from", folder)
    assert (code, out) == (0, f"tiny is in {cache}\n")
    assert "checked: roads.txt\nchecked: trips.txt\n" in errors
    assert command("data", "tiny")[:2] == (0, f"tiny is in {cache}\n")


def test_the_command_fetches_from_a_server(command, server, cache):
    assert command("data", "tiny", "--from", server.address)[0] == 0
    assert kept(cache) == FILES


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("data", "tiny"), "boirl data tiny --from"),
        (("data", "tiny", "--from", "nowhere"), "could not be read"),
        (("data", "big", "--from", "nowhere"), "there is no data set 'big'"),
    ],
)
def test_the_command_reports_errors_in_one_line(command, arguments, message):
    code, out, errors = command(*arguments)
    assert (code, out) == (2, "")
    assert message in errors
    assert len(errors.strip().splitlines()) == 1


def test_a_problem_without_data_names_the_command(monkeypatch):
    known: Registry[DataSet] = Registry("data set", "boirl-tests.datasets")
    known.register("borlange", DataSet("", {"linkIncidence.txt": ""}))
    monkeypatch.setattr("boirl.datasets.DATASETS", known)
    for name in ("borlange-virtual", "borlange-real", "borlange-recursive-logit"):
        with pytest.raises(InvalidInputError, match="boirl data borlange --from"):
            boirl.load_problem(name)


def test_the_data_sets_of_boirl_are_declared_as_entry_points():
    known: Registry[DataSet] = Registry("data set", "boirl.datasets")
    files = {name: len(one.checksums) for name, one in known.items()}
    assert files == {"borlange": 4, "bus-engines": 1, "labyrinth": 1}
    for one in known.values():
        assert all(len(checksum) == 64 for checksum in one.checksums.values())


@pytest.mark.parametrize("name", ["bus-engines", "labyrinth"])
def test_the_recorded_data_come_from_a_server(name, command, server, tmp_path, monkeypatch):
    known: Registry[DataSet] = Registry("data set", "boirl.datasets")
    monkeypatch.setattr("boirl.datasets.DATASETS", known)
    (file,) = known[name].checksums
    path = RECORDED / {"bus-engines": "rust_bus"}.get(name, name) / file
    if not path.exists():
        pytest.skip(f"{file} is not at hand (../shared/data)")
    server.files[file] = path.read_bytes()
    code, out, _ = command("data", name, "--from", server.address)
    assert (code, out) == (0, f"{name} is in {tmp_path / 'cache' / name}\n")
    assert kept(tmp_path / "cache" / name) == {file: path.read_bytes()}
    server.files[file] += b" "
    (tmp_path / "cache" / name / file).unlink()
    code, _, errors = command("data", name, "--from", server.address)
    assert code == 2
    assert f"expected {known[name].checksums[file][:12]}" in errors
    assert kept(tmp_path / "cache" / name) == {}
