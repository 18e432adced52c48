// Puts charts into the page and ties them together: a click anywhere chooses a reward.
"use strict";

const REPORT = JSON.parse(document.getElementById("report-data").textContent);
const number = (value) => value === null || value === undefined ? "–" : String(Number(value.toPrecision(4)));
const CELLS = 55, ERRORS_ONLY = 1, REACH = 16;
// Which table a chart shows as dots, and by which columns.
const POINTS = { landscape: ["points", "x", "y"], convergence: ["evaluations", "n", "excess"], predictions: ["predictions", "predicted", "found"] };
const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(share * (sorted.length - 1))))];

// A row of square panels beside the labels of the first one, no wider than there is room for.
function fitPanels(panels, count, room) {
  const size = Math.max(60, Math.floor((room - 70) / count) - 10);
  for (const panel of panels) {
    panel.width = Math.min(panel.width, size);
    panel.height = panel.width;
  }
}

// All paths and marks of these frames fit into the bounds.
function widen(bounds, frames) {
  const room = 0.05 * (bounds[2] - bounds[0]);
  const around = ([x, y, radius]) => [x - radius - room, y - radius - room, x + radius + room, y + radius + room];
  const shown = frames.filter(Boolean);
  for (const path of shown.flatMap((frame) => [...(frame.paths || []), ...(frame.marks || []).map(around)])) {
    path.forEach((value, i) => {
      bounds[i % 2] = Math.min(bounds[i % 2], value);
      bounds[2 + (i % 2)] = Math.max(bounds[2 + (i % 2)], value);
    });
  }
}

class Answer {
  constructor(data, place) {
    this.data = data;
    this.views = {};
    this.picked = -1;
    this.find = (selector) => [...document.querySelectorAll(`[data-answer="${place}"]`)].flatMap((part) => [...part.querySelectorAll(selector)]);
    this.role = (name) => this.find(`[data-role="${name}"]`)[0];
    // The demonstrations and the best of each behaviour decide what counts as often.
    const frames = [data.demonstrated, ...data.groups.map((group) => data.frames[group.n])];
    const visits = frames.filter(Boolean).flatMap((frame) => frame.visits || (frame.rows || []).map((row) => row[1]));
    this.most = Math.max(1e-12, ...visits);
    if (data.scene && data.scene.bounds) widen(data.scene.bounds, frames);
  }

  async start() {
    this.find("[data-demonstrated]").forEach((node) => this.draw(node, this.data.demonstrated));
    this.find("[data-frame]").forEach((node) => {
      this.draw(node, this.data.frames[node.dataset.frame]);
      node.addEventListener("click", () => this.pick(Number(node.dataset.frame)));
    });
    this.find("[data-difference]").forEach((node) => {
      drawDifference(node, this.data.scene, this.data.frames[node.dataset.difference], this.data.frames[node.dataset.from]);
    });
    this.find(".card[data-group] .swatch").forEach((node) => {
      node.style.background = this.data.colours[Number(node.closest("[data-group]").dataset.group)];
    });
    if (this.data.landscape) this.slices = new Slices(this);
    const button = this.role("slice");
    if (button) button.addEventListener("click", () => this.slices.through(this.picked));
    await Promise.all([this.showLandscape(), this.showConvergence(), this.showPredictions(), this.showPairs()]);
    this.pick(this.data.best);
  }

  draw(node, frame) {
    drawFrame(node, this.data.scene, frame, this.most);
  }

  async embed(name, spec, datasets) {
    const target = this.find(`[data-chart="${name}"]`)[0];
    if (!target || !spec) return;
    const room = target.clientWidth - (name === "landscape" ? 190 : 90);
    if (typeof spec.width === "number") spec.width = Math.max(180, Math.min(spec.width * 1.4, room));
    for (const row of spec.vconcat || []) fitPanels(row.hconcat, spec.vconcat.length, target.clientWidth);
    if (this.views[name]) this.views[name].finalize();
    const shown = await vegaEmbed(target, { ...spec, datasets }, { actions: false, renderer: "canvas", logLevel: ERRORS_ONLY });
    this.views[name] = shown.view;
    shown.view.addEventListener("click", (event, item) => {
      const datum = (item && item.datum) || {};
      if (Number.isInteger(datum.n)) this.pick(datum.n);
      else if (Number.isInteger(datum.near) && datum.near >= 0) this.pick(datum.near, datum);
      else if (POINTS[name]) this.pickNearest(name, event);
    });
    this.ring(name);
  }

  // Dots are small: the nearest one within reach is taken.
  pickNearest(name, event) {
    const view = this.views[name], [table, across, up] = POINTS[name], x = view.scale("x"), y = view.scale("y");
    const box = view.container().querySelector("canvas").getBoundingClientRect(), [left, top] = view.origin();
    const atX = event.clientX - box.x - view.padding().left - left, atY = event.clientY - box.y - view.padding().top - top;
    const gaps = view.data(table).filter((row) => Number.isInteger(row.n) && row.ok !== false)
      .map((row) => [Math.hypot(x(row[across]) - atX, y(row[up]) - atY), row.n]).sort((a, b) => a[0] - b[0]);
    if (gaps.length && gaps[0][0] < REACH) this.pick(gaps[0][1]);
  }

  ring(name) {
    if (name !== "pairs" && this.views[name]) this.views[name].signal("picked", this.picked).run();
  }

  async showLandscape() {
    const { data } = this, spec = data.specs.landscape && structuredClone(data.specs.landscape);
    if (!spec) return;
    const alone = data.names.length === 1;
    const [x, y] = this.slices ? this.slices.shown : [0, alone ? 0 : 1];
    const axis = (channel, column) => spec.layer.forEach((layer) => {
      const encoded = layer.encoding[channel];
      if (!encoded || (alone && channel === "y")) return;
      encoded.title = data.names[column];
      encoded.scale.domain = [data.low[column], data.high[column]];
    });
    axis("x", x);
    axis("y", y);
    const cells = this.slices ? this.slices.cells() : [];
    await this.embed("landscape", spec, { cells, curve: cells, points: this.points() });
  }

  points() {
    const { data } = this, [x, y] = this.slices ? this.slices.shown : [0, data.names.length === 1 ? 0 : 1];
    const alone = data.names.length === 1;
    const rows = data.evaluations.filter((row) => row.ok).map((row) => ({
      ...row, x: row[`p${x}`], y: alone ? row.excess : row[`p${y}`],
      near: this.slices ? this.slices.near(row) : 1, kind: row.n === data.best ? "best" : "evaluated",
    }));
    if (data.truth && !alone) rows.push({ x: data.truth[x], y: data.truth[y], near: 1, kind: "true reward" });
    return rows;
  }

  refresh() {
    const name = this.data.names.length === 1 ? "curve" : "cells";
    this.views.landscape.data(name, this.slices.cells()).data("points", this.points()).run();
  }

  async showConvergence() {
    let lowest = Infinity;
    const best = this.data.evaluations.filter((row) => row.ok && !row.broken).map((row) => ({ n: row.n, excess: (lowest = Math.min(lowest, row.excess)) }));
    await this.embed("convergence", this.data.specs.convergence, { evaluations: this.data.evaluations, best });
  }

  async showPredictions() {
    const rows = this.data.predictions, most = Math.max(1, ...rows.flatMap((row) => [row.found, row.predicted]));
    const diagonal = Array.from({ length: 60 }, (_, i) => ({ at: Math.expm1((i / 59) * Math.log1p(most)) }));
    await this.embed("predictions", this.data.specs.predictions, { predictions: rows, diagonal });
  }

  async showPairs() {
    if (!this.data.specs.pairs) return;
    await this.embed("pairs", this.data.specs.pairs, { samples: this.data.samples });
    this.brushed({});
    if (this.data.paired.length > 1) this.views.pairs.addSignalListener("brush", (_, ranges) => this.brushed(ranges || {}));
  }

  // What a selection of samples says of the other parameters, and of behaviour.
  brushed(ranges) {
    const { data } = this, target = this.role("brushed"), fields = Object.entries(ranges);
    const chosen = data.samples.filter((row) => fields.every(([field, [one, other]]) => row[field] >= Math.min(one, other) && row[field] <= Math.max(one, other)));
    target.replaceChildren();
    const share = Math.round((100 * chosen.length) / data.samples.length);
    textNode("p", fields.length ? `selected: ${share}% of the posterior` : "all of the posterior", target);
    if (!chosen.length) return;
    const table = document.createElement("table");
    table.className = "plain";
    const head = table.createTHead().insertRow();
    ["parameter", "95 % interval", "median"].forEach((text, i) => textNode("th", text, head, i ? "number" : ""));
    const body = table.createTBody();
    for (const column of data.paired) {
      const values = chosen.map((row) => row[`p${column}`]).sort((a, b) => a - b), row = body.insertRow();
      textNode("td", data.names[column], row);
      textNode("td", `${number(quantile(values, 0.025))} to ${number(quantile(values, 0.975))}`, row, "number");
      textNode("td", number(quantile(values, 0.5)), row, "number");
    }
    target.append(table);
    const counts = data.groups.map((group) => [group.number, chosen.filter((row) => row.group === group.number).length]);
    const words = counts.filter(([, count]) => count).map(([group, count]) => `behaviour ${group}: ${Math.round((100 * count) / chosen.length)}%`);
    textNode("p", words.join(", "), target, "note");
  }

  pick(n, sample) {
    const { data } = this, row = data.evaluations[n];
    this.picked = n;
    Object.keys(this.views).forEach((name) => this.ring(name));
    this.role("chosen-title").textContent = `evaluation ${n}${n === data.best ? ", the best" : ""}`;
    const facts = this.role("chosen-facts"), add = (name, value) => { textNode("dt", name, facts); textNode("dd", value, facts); };
    facts.replaceChildren();
    if (data.hasThetas) data.names.forEach((name, i) => add(name, number(row[`p${i}`])));
    add("NLL", row.ok ? number(row.nll) : "failed");
    if (row.ok) add("above the best", `${number(row.excess)} tolerances${row.kept ? "" : row.broken ? ", breaks a constraint" : ", rejected"}`);
    if (row.group) add("behaviour", String(row.group));
    this.draw(this.role("chosen-drawing"), data.frames[n]);
    const notes = [];
    if (sample) notes.push("The evaluated reward nearest to the sample that was clicked on.");
    if (row.failure) notes.push(row.failure);
    this.role("chosen-note").textContent = notes.join(" ");
    const button = this.role("slice");
    if (button) button.disabled = !row.ok;
  }
}

// `parts - 1` values between any two, by linear interpolation; of numbers, or of rows of them.
function refine(values, parts) {
  const found = [];
  for (let i = 0; i + 1 < values.length; i++) {
    for (let k = 0; k < parts; k++) found.push(values[i] + (k / parts) * (values[i + 1] - values[i]));
  }
  return [...found, values[values.length - 1]];
}

function refineRows(rows, parts) {
  const turned = rows[0].map((_, j) => refine(rows.map((row) => row[j]), parts));
  return turned[0].map((_, i) => turned.map((column) => column[i]));
}

// Sliders and axes of the landscape; see boirl.report.landscape for the terms.
class Slices {
  constructor(answer) {
    this.answer = answer;
    this.landscape = answer.data.landscape;
    this.at = [...this.landscape.anchor];
    this.place = [0, Math.min(1, this.at.length - 1)];
    this.controls();
  }

  get shown() {
    return this.place.map((place) => this.landscape.columns[place]);
  }

  controls() {
    const axes = this.answer.role("axes"), sliders = this.answer.role("sliders");
    const names = this.landscape.columns.map((column) => this.answer.data.names[column]);
    axes.replaceChildren();
    sliders.replaceChildren();
    if (names.length < 3) return;
    ["across", "up"].forEach((word, channel) => {
      const label = textNode("label", `${word} `, axes), select = document.createElement("select");
      names.forEach((name, place) => {
        const option = textNode("option", name, select);
        option.value = place;
        option.disabled = place === this.place[1 - channel];
        option.selected = place === this.place[channel];
      });
      select.addEventListener("change", () => {
        this.place[channel] = Number(select.value);
        this.controls();
        this.answer.showLandscape();
      });
      label.append(select);
    });
    const back = textNode("button", "back to the best", axes);
    back.type = "button";
    back.addEventListener("click", () => this.through(this.answer.data.best));
    names.forEach((name, place) => {
      if (this.place.includes(place)) return;
      const label = textNode("label", name, sliders), input = document.createElement("input"), shown = document.createElement("output");
      Object.assign(input, { type: "range", min: 0, max: this.landscape.axes[place].length - 1, step: 1, value: this.at[place] });
      input.dataset.parameter = this.landscape.columns[place];
      const show = () => { shown.textContent = number(this.landscape.axes[place][this.at[place]]); };
      input.addEventListener("input", () => { this.at[place] = Number(input.value); show(); this.answer.refresh(); });
      show();
      label.append(input, shown);
    });
  }

  // Move the sliders to an evaluation, as near as the grid goes.
  through(n) {
    const row = this.answer.data.evaluations[n];
    this.landscape.columns.forEach((column, place) => {
      const gaps = this.landscape.axes[place].map((value) => Math.abs(value - row[`p${column}`]));
      this.at[place] = n === this.answer.data.best ? this.landscape.anchor[place] : gaps.indexOf(Math.min(...gaps));
    });
    this.controls();
    this.answer.refresh();
  }

  // 1 in the plane that is shown, less the farther from it: in shares of the box.
  near(row) {
    let farthest = 0;
    this.landscape.columns.forEach((column, place) => {
      if (this.place.includes(place)) return;
      const span = this.answer.data.high[column] - this.answer.data.low[column];
      farthest = Math.max(farthest, Math.abs(row[`p${column}`] - this.landscape.axes[place][this.at[place]]) / span);
    });
    return Math.max(0, 1 - 2.5 * farthest);
  }

  nll(positions) {
    let total = 0;
    for (const term of this.landscape.terms) {
      let index = 0;
      for (const place of term.columns) index = index * this.landscape.axes[place].length + positions[place];
      total += term.values[index];
    }
    return total;
  }

  cells() {
    const { data } = this.answer, [across, up] = this.place, positions = [...this.at], cells = [];
    const excess = (nll) => Math.max(0, (nll - data.bestNll) / data.tolerance);
    const finer = (axis) => Math.max(1, Math.round(CELLS / axis.length));
    const xs = this.landscape.axes[across], edges = (axis) => [axis[0], ...axis.slice(1).map((value, i) => (value + axis[i]) / 2), axis[axis.length - 1]];
    if (this.landscape.columns.length === 1) {
      return xs.map((x, i) => { const nll = this.nll([i]); return { x, nll, excess: excess(nll) }; });
    }
    const ys = this.landscape.axes[up], grid = xs.map((_, i) => ys.map((_, j) => {
      positions[across] = i;
      positions[up] = j;
      return this.nll(positions);
    }));
    // Between the points of the grid, values are interpolated.
    const fx = finer(xs), fy = finer(ys), ex = edges(refine(xs, fx)), ey = edges(refine(ys, fy));
    const fine = refineRows(grid.map((row) => refine(row, fy)), fx);
    fine.forEach((row, i) => row.forEach((nll, j) => {
      cells.push({ x: ex[i], x2: ex[i + 1], y: ey[j], y2: ey[j + 1], nll, excess: excess(nll) });
    }));
    return cells;
  }
}

// While a search runs, the page asks whether there is more to see.
function follow() {
  const line = document.getElementById("live");
  setInterval(async () => {
    try {
      const state = await (await fetch("state", { cache: "no-store" })).json();
      line.textContent = state.message;
      if (state.version !== REPORT.live) location.reload();
    } catch (error) {
      line.textContent = "the search or its report has ended; this page stays as it is";
    }
  }, 2000);
}

const ANSWERS = REPORT.answers.map((data, place) => new Answer(data, place));
// For the console, and for tests.
window.boirlAnswers = ANSWERS;
Promise.all(ANSWERS.map((answer) => answer.start())).then(() => {
  window.boirlSeconds = performance.now() / 1000;
  document.body.dataset.ready = "yes";
  if (REPORT.live !== null) follow();
});
