"""A real Neo4j server for tests: fetched with Maven, started in a folder, always ended."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from filelock import FileLock

from tests.processes import ending_with_tests

VERSION = "5.26.0"
PASSWORD = "a-word-for-tests"
JAVA = [
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
]

POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>ehrkg</groupId><artifactId>test-server</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.neo4j.app</groupId><artifactId>neo4j-server</artifactId>
      <version>{VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{VERSION}</version>
    </dependency>
  </dependencies>
</project>
"""

SETTINGS = """server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
dbms.security.auth_enabled=true
dbms.usage_report.enabled=false
server.memory.heap.initial_size=256m
server.memory.heap.max_size=768m
server.memory.pagecache.size={pagecache}
"""


class NotHereError(Exception):
    """What the server needs is not on this machine."""


def jars() -> Path:
    """The folder of the server's jars, fetched once and kept in the user's cache.

    Raises:
        NotHereError: no Java, no Maven, or Maven could not fetch them.
    """
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            raise NotHereError(f"no {tool} on the path, so no Neo4j server")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ehrkg-tests"
    folder = cache / f"neo4j-{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / "lock"):  # tests may run in several processes
        _fetch(cache, folder)
    return folder


def _fetch(cache: Path, folder: Path) -> None:
    if (folder / "complete").exists():
        return
    (cache / "pom.xml").write_text(POM)
    done = subprocess.run(
        [
            "mvn",
            "-q",
            "-B",
            "-f",
            str(cache / "pom.xml"),
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            f"-DoutputDirectory={folder}",
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        raise NotHereError(f"Maven could not fetch Neo4j: {done.stdout[-300:]}")
    (folder / "complete").touch()


QUICK_START = ("-Xms256m", "-Xmx768m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class Server:
    """A server in a folder of its own, on a loopback port of its own choosing, with a password.

    Args:
        home: an empty folder, or one that a server of this class used before.
        java: the virtual machine's options: quick to start by default, not quick at long work.
        pagecache: memory for the pages of the store, as the server's settings write it.
    """

    def __init__(
        self, home: Path, java: Sequence[str] = QUICK_START, pagecache: str = "128m"
    ) -> None:
        self.home = home
        self.java = java
        self.auth = ("neo4j", PASSWORD)
        self.process: subprocess.Popen[bytes] | None = None
        with socket.socket() as chosen:
            chosen.bind(("127.0.0.1", 0))
            self.port = chosen.getsockname()[1]
        (home / "conf").mkdir(parents=True, exist_ok=True)
        (home / "conf" / "neo4j.conf").write_text(
            SETTINGS.format(port=self.port, pagecache=pagecache)
        )
        self.classpath = f"{jars()}/*"
        self._set_password()

    def _set_password(self) -> None:
        """Set the first password with the real tool; the file it leaves is kept for next time."""
        wanted = self.home / "data" / "dbms" / "auth.ini"
        kept = jars() / "auth.ini"
        if not wanted.exists() and kept.exists():
            wanted.parent.mkdir(parents=True)
            shutil.copy(kept, wanted)
        elif not wanted.exists():
            self.admin("dbms", "set-initial-password", PASSWORD)
            beside = kept.with_name(f"auth.ini.{os.getpid()}")
            shutil.copy(wanted, beside)
            beside.replace(kept)  # whole or not at all, should another process look

    @property
    def address(self) -> str:
        return f"neo4j://127.0.0.1:{self.port}"

    def admin(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the real neo4j-admin on this server's folder."""
        done = subprocess.run(
            [
                "java",
                "-Xmx512m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                self.classpath,
                *JAVA,
                "org.neo4j.cli.AdminTool",
                *words,
            ],
            env=os.environ | {"NEO4J_HOME": str(self.home), "NEO4J_CONF": str(self.home / "conf")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            cwd=self.home,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done

    def start(self) -> None:
        """Start it and wait until it listens."""
        log = (self.home / "server.log").open("ab")
        self.process = subprocess.Popen(
            ending_with_tests(
                "java",
                *self.java,
                "-cp",
                self.classpath,
                *JAVA,
                "org.neo4j.server.CommunityEntryPoint",
                f"--home-dir={self.home}",
                f"--config-dir={self.home / 'conf'}",
            ),
            stdout=log,
            stderr=log,
        )
        log.close()
        until = time.monotonic() + 120
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.1)
        self.kill()
        raise AssertionError((self.home / "server.log").read_text()[-3000:])

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it in order."""
        self._end(signal.SIGTERM)

    def _end(self, by: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(by)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
