"use strict";
// Keeps the part of the page with data-live as it is on the server: told by events, read anew, put in its place.
(() => {
  const part = document.querySelector("[data-live]");
  if (!part || !window.EventSource) return;
  const source = new EventSource(part.dataset.live);
  let waiting = false;
  let first = true;
  async function readAgain() {
    waiting = false;
    if (document.hidden) { waiting = true; return; }
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const now = document.querySelector("[data-live]");
      const fresh = page.querySelector("[data-live]");
      if (now && fresh && now.innerHTML !== fresh.innerHTML && !now.contains(document.activeElement)) now.replaceWith(fresh);
      if (fresh && fresh.dataset.over === "1") source.close();
    } catch { /* the next event tries again */ }
  }
  function later() {
    if (first) { first = false; return; }
    if (waiting) return;
    waiting = true;
    setTimeout(readAgain, 1000 + Math.random() * 2000);
  }
  source.addEventListener("board", later);
  source.addEventListener("job", later);
  document.addEventListener("visibilitychange", () => { if (!document.hidden && waiting) readAgain(); });
})();
