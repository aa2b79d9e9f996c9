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
  // The tables of a round: a game has ended. What came of its table comes with the last game of it.
  const made = (name, text, more) => Object.assign(document.createElement(name), { textContent: text }, more);
  function named(keys) {
    return keys.flatMap((key, at) => [...(at ? [", "] : []), made("bdi", key)]);
  }
  function playing(told) {
    const body = part().querySelector("[data-playing]");
    if (!body) return;
    let row = body.querySelector(`[data-table="${told.table}"]`);
    if (!row) {
      row = document.createElement("tr");
      row.dataset.table = told.table;
      const who = made("td", "", { className: "names" });
      who.append(...named(told.seats));
      const count = made("td", "", { className: "num" });
      count.dataset.count = "";
      row.append(made("th", told.table, { scope: "row" }), who, count);
      body.append(row);
    }
    row.querySelector("[data-count]").textContent = `${told.over} of ${told.games}`;
    if (told.got) row.remove();
  }
  function tableOver(told) {
    const list = part().querySelector("[data-tables-over]");
    if (!list || [...list.children].some((one) => one.value === told.table)) return;
    const line = document.createElement("li");
    line.value = told.table;
    for (const [key, got] of told.got) {
      const one = made("span", "", { className: "got" });
      one.append(made("bdi", key), " ", made("b", got));
      line.append(one, " ");
    }
    const games = made("span", "", { className: "soft small" });
    told.played.forEach((game, at) => {
      const link = made("a", game, { href: part().dataset.games + game });
      link.setAttribute("aria-label", `Game ${game} of table ${told.table}`);
      games.append(...(at ? [" "] : []), link);
    });
    line.append(games);
    list.prepend(line);
    const none = part().querySelector("[data-none]");
    if (none) none.hidden = true;
    const bar = part().querySelector("progress");
    const words = part().querySelector("[data-progress]");
    if (bar && words) {
      bar.value += 1;
      words.textContent = `${bar.value.toLocaleString("en")} of ${bar.max.toLocaleString("en")} tables`;
    }
  }
  source.addEventListener("table", (event) => {
    const told = JSON.parse(event.data);
    if (!part().dataset.mark.startsWith(`${told.round} `)) return;
    playing(told);
    if (told.got) {
      tableOver(told);
      later(10000, 20000); // who has begun, and the scores of the round
    }
  });
  source.addEventListener("round", (event) => {
    if (JSON.parse(event.data).mark !== part().dataset.mark) later(500, 4000);
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden && waiting) readAgain(); });
})();
