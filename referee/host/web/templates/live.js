"use strict";
// Keeps the part of the page with data-live as it is on the server. Events tell of news: the progress of a round is written in at
// once; for the rest the page is read anew and the part put in its place, not by all who watch at the same moment.
(() => {
  const part = () => document.querySelector("[data-live]");
  if (!part() || !window.EventSource) return;
  const source = new EventSource(part().dataset.live);
  let waiting = false;

  async function readAgain() {
    if (document.hidden) return; // until somebody looks
    waiting = false;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const now = part();
      const fresh = page.querySelector("[data-live]");
      if (!now || !fresh || now.contains(document.activeElement)) return;
      if (now.innerHTML === fresh.innerHTML) now.dataset.mark = fresh.dataset.mark;
      else now.replaceWith(fresh);
      if (fresh.dataset.over === "1") source.close();
    } catch { /* the next event tries again */ }
  }
  function later(least, spread) {
    if (waiting) return;
    waiting = true;
    setTimeout(readAgain, least + Math.random() * spread);
  }
  source.addEventListener("job", () => later(200, 300));
  source.addEventListener("board", (event) => {
    const told = JSON.parse(event.data);
    const bar = part().querySelector("progress");
    const words = part().querySelector("[data-progress]");
    if (bar && words && told.games > 0) {
      bar.max = told.games;
      bar.value = told.games_played;
      words.textContent = `${told.games_played.toLocaleString("en")} of ${told.games.toLocaleString("en")} games`;
    }
    if (told.mark !== part().dataset.mark) later(2000, 8000);
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden && waiting) readAgain(); });
})();
