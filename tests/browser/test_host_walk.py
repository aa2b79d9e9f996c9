"""The whole way of a host in a browser, with Python bots. ``make host-walk`` goes it with a bot in each language."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.host_walk import BAD, Author, walk


@pytest.mark.needs("chromium")
@pytest.mark.needs("bwrap")
def test_from_the_first_link_to_a_backup_restored_elsewhere(browser: Browser, tmp_path: Path) -> None:
    walk(tmp_path, browser, [Author("ann", "python"), Author(BAD)])
