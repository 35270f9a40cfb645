"use strict";
// The what-if panel: from cells to codes, votes, a decision and probabilities, as the model does.
// Nothing leaves the page.
(() => {
  const model = JSON.parse(document.getElementById("model").textContent);
  const two = model.classes.length === 2;
  const byId = (id) => document.getElementById(id);

  // ---- cells to codes (as table/cells.py and table/dates.py)

  const NUMERAL = /^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)$/i;
  const DATE = /^([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?$/;

  function readNumber(text) {
    if (!NUMERAL.test(text)) return NaN;
    if (!/inf/i.test(text)) return Number(text);
    return text.startsWith("-") ? -Infinity : Infinity;
  }

  function readDate(text, unit) {
    const found = DATE.exec(text);
    if (!found) return NaN;
    const [year, month, day] = found.slice(1).map((part) => part && Number(part));
    const precise = { year: true, month: month !== undefined, day: day !== undefined }[unit];
    const date = new Date(0);
    date.setUTCFullYear(year, (month ?? 1) - 1, day ?? 1);
    const exists = date.getUTCMonth() === (month ?? 1) - 1 && date.getUTCDate() === (day ?? 1);
    if (!precise || !exists || year === 0) return NaN;
    if (unit === "year") return year - 1970;
    return unit === "month" ? (year - 1970) * 12 + month - 1 : Math.round(date / 86400000);
  }

  function codeOf(column, text) {
    if (column.kind === "select") return Number(text);
    const cell = text.trim();
    const number = column.kind === "date" ? readDate(cell, column.unit) : readNumber(cell);
    if (Number.isNaN(number)) return column.missing;
    return column.cuts.filter((cut) => cut < number).length;
  }

  // ---- codes to votes; with two classes one count, the lead of the second

  function pieceVotes(piece, codes) {
    let place = 0;
    piece.columns.forEach((column, axis) => {
      place = place * piece.shape[axis] + piece.groups[axis][codes[column]];
    });
    return piece.votes[place];
  }

  function leafOf(node, codes) {
    while (Array.isArray(node)) {
      const [column, runs, yes, no] = node;
      const code = codes[column];
      node = runs.some(([start, stop]) => start <= code && code < stop) ? yes : no;
    }
    return node;
  }

  function treeVotes(group, codes) {
    const votes = model.start.map(() => 0);
    for (const rule of group.rules) {
      const leaf = leafOf(rule.root, codes);
      if (two) votes[0] += leaf === 1 ? rule.times : -rule.times;
      else if (rule.about === null) votes[leaf] += rule.times;
      else votes[rule.about] += leaf === 1 ? rule.times : -rule.times;
    }
    return votes;
  }

  // ---- votes to a decision and probabilities (as link.py)

  const heard = model.classes.map((_, at) => at).filter((at) => !model.link.unheard.includes(at));

  function decisionOf(votes) {
    const link = model.link;
    if (two) {
      const beyond = votes[0] - link.threshold;
      return [beyond === 0 ? -0.5 : beyond];
    }
    const decision = votes.map((count, at) => count + link.headStarts[at]);
    const last = Math.min(...heard.map((at) => decision[at]));
    for (const at of link.unheard) {
      decision[at] = Math.min(last - 1, last - Math.abs(last) * 2 ** -52);
    }
    return decision;
  }

  function probabilitiesOf(votes) {
    const link = model.link;
    let behind;
    if (two) {
      const beyond = votes[0] - link.offset;
      behind = [Math.min(0, -beyond), Math.min(0, beyond)];
    } else {
      const most = Math.max(...heard.map((at) => votes[at]));
      behind = votes.map((count) => count - most);
    }
    const odds = behind.map((short) =>
      short < 0 ? Math.min(Math.exp(Math.max(link.slope * short, -690)), 1 - 2 ** -50) : 1,
    );
    const least = Math.min(...heard.map((at) => odds[at]));
    for (const at of link.unheard) odds[at] = link.shares.length ? 0 : 1e-3 * least;
    const total = odds.reduce((sum, each) => sum + each, 0);
    const left = (1 - link.shares.reduce((sum, each) => sum + each, 0)) / total;
    return odds.map((each, at) => each * left + (link.shares[at] ?? 0));
  }

  function chosen(decision) {
    if (two) return decision[0] > 0 ? 1 : 0;
    return decision.indexOf(Math.max(...decision));
  }

  // ---- what is shown

  function signed(votes) {
    const digits = Math.abs(votes) < 1e15 ? 2 : 0;
    const text = Math.abs(votes).toLocaleString("en", { maximumFractionDigits: digits });
    return text === "0" ? "0" : (votes > 0 ? "+" : "−") + text;
  }

  function percent(chance) {
    if (chance < 0.001) return "below 0.1%";
    return chance > 0.999 ? "above 99.9%" : `${(100 * chance).toFixed(1)}%`;
  }

  const nameOf = (columns) => columns.map((at) => model.names[at]).join(", ");
  const voters = [
    ...model.pieces.map((p) => ({ name: nameOf(p.columns), votes: (c) => pieceVotes(p, c) })),
    ...model.trees.map((t) => ({
      name: `trees on ${nameOf(t.columns)}`,
      votes: (c) => treeVotes(t, c),
    })),
  ];
  const starts = model.start.some((votes) => votes !== 0);
  const weighs = !two && model.link.headStarts.some((votes) => votes !== 0);
  const lineNames = [
    ...(starts ? ["start, whatever the row"] : []),
    ...voters.map((voter) => voter.name),
    ...(weighs ? ["weight of the class"] : []),
  ];

  // Running totals on one scale, with room for the largest step there is.
  let largest = 1;
  for (const piece of model.pieces) {
    for (const votes of piece.votes.flat()) largest = Math.max(largest, Math.abs(votes));
  }

  function spanOf(totals) {
    return [Math.min(-largest, ...totals), Math.max(largest, ...totals)];
  }

  function placeBar(bar, from, to, [low, high]) {
    const place = (votes) => (100 * (votes - low)) / (high - low);
    bar.style.left = `${place(Math.min(from, to))}%`;
    bar.style.width = `${place(Math.max(from, to)) - place(Math.min(from, to))}%`;
    bar.className = to >= from ? "bar for" : "bar against";
  }

  const lines = lineNames.map((name) => {
    const line = byId("line").content.cloneNode(true).querySelector("tr");
    line.querySelector("th").textContent = name;
    byId("lines").append(line);
    return { line, number: line.querySelector(".number"), bar: line.querySelector(".bar") };
  });
  const classLines = model.classes.map((label) => {
    const line = byId("class-line").content.cloneNode(true).querySelector("tr");
    line.querySelector("th").textContent = label;
    byId("classes").append(line);
    return {
      line,
      votes: line.querySelector(".votes"),
      chance: line.querySelector(".chance"),
      bar: line.querySelector(".bar"),
    };
  });

  const fields = model.columns.map((column) => ({
    column,
    input: byId(`cell-${column.at}`),
    slider: byId(`slider-${column.at}`),
    hint: byId(`hint-${column.at}`),
  }));
  const shownClass = byId("shown-class");

  function showHint({ column, slider, hint }, code) {
    if (column.kind === "select") return;
    const known = code < column.words.length;
    hint.textContent = known ? `counts as ${column.words[code]}` : "counts as missing";
    if (known) slider.value = code;
    slider.setAttribute("aria-valuetext", known ? column.words[code] : "missing");
  }

  function showLines(votes, count) {
    const totals = [0];
    for (const counts of votes) totals.push(totals.at(-1) + counts[count]);
    const span = spanOf(totals);
    lines.forEach(({ number, bar }, at) => {
      number.textContent = signed(votes[at][count]);
      placeBar(bar, totals[at], totals[at + 1], span);
    });
    byId("total").textContent = signed(totals.at(-1));
    placeBar(byId("total-bar"), 0, totals.at(-1), span);
    byId("adding").style.setProperty("--zero", `${(-100 * span[0]) / (span[1] - span[0])}%`);
  }

  // How far the votes for the second of two classes are from enough, in whole votes as they are.
  function standing(votes) {
    const least = Math.floor(model.link.threshold) + 1;
    if (Math.abs(least) > 1e9) return "";
    const off = Math.abs(votes - least);
    const many = `${off.toLocaleString("en")} ${off === 1 ? "vote" : "votes"}`;
    if (votes < least) return `; ${many} short of ${model.classes[1]}`;
    const needs = `${model.classes[1]} needs`;
    return off === 0 ? `; just as many votes as ${needs}` : `; ${many} more than ${needs}`;
  }

  function showClasses(counted, decision, probabilities, winner) {
    classLines.forEach(({ line, votes, chance, bar }, at) => {
      line.classList.toggle("chosen", at === winner);
      if (votes) votes.textContent = two ? "" : signed(decision[at]);
      chance.textContent = percent(probabilities[at]);
      placeBar(bar, 0, probabilities[at], [0, 1]);
    });
    const most = percent(probabilities[winner]);
    byId("prediction").textContent = model.classes[winner];
    byId("certainty").textContent = `probability ${most}${two ? standing(counted[0]) : ""}`;
  }

  function update() {
    const codes = model.names.map(() => 0);
    for (const field of fields) {
      codes[field.column.at] = codeOf(field.column, field.input.value);
      showHint(field, codes[field.column.at]);
    }
    const votes = voters.map((voter) => voter.votes(codes));
    const counted = model.start.map((start, count) =>
      votes.reduce((sum, counts) => sum + counts[count], start),
    );
    const decision = decisionOf(counted);
    const probabilities = probabilitiesOf(counted);
    if (starts) votes.unshift(model.start);
    if (weighs) votes.push(model.link.headStarts);
    showLines(votes, two ? 0 : Number(shownClass.value));
    showClasses(counted, decision, probabilities, chosen(decision));
    const results = byId("results");
    results.dataset.decision = JSON.stringify(decision);
    results.dataset.probabilities = JSON.stringify(probabilities);
  }

  for (const { column, input, slider } of fields) {
    input.addEventListener("input", update);
    slider?.addEventListener("input", () => {
      input.value = column.inside[Number(slider.value)];
      update();
    });
  }
  shownClass?.addEventListener("change", update);
  byId("what-if").addEventListener("submit", (event) => event.preventDefault());
  byId("what-if").addEventListener("reset", () => setTimeout(update));
  update();

  // Paper has no buttons: all that is folded is printed, too.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((details) => (details.open = true));
  });
  addEventListener("afterprint", () => folded.forEach((details) => (details.open = false)));
})();
