// Draws frames of behaviour, see boirl.report.scenes, as SVG or as a table. Text is never HTML.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300;
let clips = 0;

function svgNode(name, attributes, parent) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (parent) parent.append(node);
  return node;
}

function textNode(name, text, parent, className) {
  const node = document.createElement(name);
  node.textContent = text;
  if (className) node.className = className;
  parent.append(node);
  return node;
}

// From white over blue to nearly black: also readable without colours.
function shade(share) {
  const stops = [[247, 251, 255], [158, 202, 225], [49, 130, 189], [8, 48, 107]];
  const at = Math.min(1, Math.max(0, share)) * 2.999, low = Math.floor(at), part = at - low;
  const mixed = stops[low].map((value, i) => Math.round(value + part * (stops[low + 1][i] - value)));
  return `rgb(${mixed.join(",")})`;
}

// From blue over white to orange, for differences.
function signedShade(share) {
  const end = share > 0 ? [213, 94, 0] : [0, 114, 178], part = Math.sqrt(Math.min(1, Math.abs(share)));
  return `rgb(${end.map((value) => Math.round(255 + part * (value - 255))).join(",")})`;
}

function drawFrame(target, scene, frame, most) {
  target.replaceChildren();
  if (!scene || !frame) {
    textNode("p", "no drawing of this behaviour was kept", target, "note");
  } else if (scene.table) {
    drawTable(target, frame, most);
  } else {
    drawPlane(target, scene, frame, most);
  }
}

// What the one does more often than the other (orange), and less often (blue); of paths, both.
function drawDifference(target, scene, one, other) {
  target.replaceChildren();
  if (!scene || scene.table || !one || !other) return;
  if (!one.at) {
    drawPlane(target, scene, { ...one, otherPaths: other.paths }, 1);
    return;
  }
  const before = new Map(other.at.map((place, i) => [place, other.visits[i]]));
  const apart = new Map(one.at.map((place, i) => [place, one.visits[i] - (before.get(place) || 0)]));
  before.forEach((visits, place) => { if (!apart.has(place)) apart.set(place, -visits); });
  const at = [...apart.keys()], visits = [...apart.values()];
  const most = Math.max(1e-12, ...visits.map(Math.abs));
  drawPlane(target, scene, { at, visits, signed: true }, most);
}

function drawTable(target, frame, most) {
  const table = document.createElement("table");
  table.className = "states";
  for (const [state, visits, choices] of frame.rows) {
    const row = table.insertRow();
    row.insertCell().textContent = state;
    const bar = row.insertCell();
    bar.className = "visit";
    bar.title = `${(100 * visits).toPrecision(3)}% of all steps`;
    const fill = document.createElement("i");
    fill.style.width = `${Math.max(2, 100 * Math.sqrt(visits / most))}%`;
    bar.append(fill);
    const words = choices.map(([action, chance]) => `${action}\u00a0${Math.round(100 * chance)}%`);
    row.insertCell().textContent = words.join(", ");
  }
  target.append(table);
}

function drawPlane(target, scene, frame, most) {
  const [x0, y0, x1, y1] = scene.bounds, border = scene.axes ? 42 : 4;
  const inner = WIDTH - 2 * border;
  let sx = inner / (x1 - x0), sy = scene.stretch ? (0.66 * inner) / (y1 - y0) : sx;
  if (!scene.stretch && (y1 - y0) * sy > 1.2 * inner) sx = sy = (1.2 * inner) / (y1 - y0);
  const width = (x1 - x0) * sx + 2 * border, height = (y1 - y0) * sy + 2 * border;
  const left = border + (WIDTH - width) / 2;
  const X = (x) => left + (x - x0) * sx, Y = (y) => border + (scene.up ? y1 - y : y - y0) * sy;
  const svg = svgNode("svg", { viewBox: `0 0 ${WIDTH} ${height.toFixed(1)}`, role: "img" });
  svgNode("title", {}, svg).textContent = "behaviour";
  const line = (flat) => {
    const points = [];
    for (let i = 0; i < flat.length; i += 2) points.push(`${X(flat[i]).toFixed(1)},${Y(flat[i + 1]).toFixed(1)}`);
    return points.join(" ");
  };
  const share = (visits) => Math.sqrt(Math.abs(visits) / most);
  const paint = (visits) => frame.signed ? signedShade(visits / most) : shade(share(visits));
  const ends = new Set(scene.ends || []);
  const visited = new Map((frame.at || []).map((place, i) => [place, i]));
  for (const [a, b, c, d] of scene.lines || []) svgNode("line", { x1: X(a), y1: Y(b), x2: X(c), y2: Y(d), stroke: "#d5d9de", "stroke-width": 0.7 }, svg);
  for (const wall of scene.walls || []) svgNode("polyline", { points: line(wall), fill: "none", stroke: "#6b7280", "stroke-width": 4, "stroke-linecap": "round" }, svg);
  (scene.squares || []).forEach(([x, y], place) => {
    const i = visited.get(place), fill = i === undefined ? "#fff" : paint(frame.visits[i]);
    const square = svgNode("rect", { x: X(x - 0.5), y: Y(y - 0.5), width: sx, height: sy, fill, stroke: "#cfd5dc", "stroke-width": 0.6 }, svg);
    if (ends.has(place)) svgNode("path", { d: `M${X(x) - 0.18 * sx},${Y(y) - 0.18 * sx}l${0.36 * sx},${0.36 * sx}m0,${-0.36 * sx}l${-0.36 * sx},${0.36 * sx}`, stroke: "#9aa3ad", "stroke-width": 0.06 * sx }, svg);
    const words = [];
    if (scene.names) words.push(scene.names[place]);
    if (i !== undefined) words.push(`${(100 * frame.visits[i]).toPrecision(2)}% of all steps${frame.signed ? " more" : ""}`);
    if (words.length) svgNode("title", {}, square).textContent = words.join(": ");
  });
  if (scene.lines && frame.at) {
    const order = frame.at.map((place, i) => [frame.visits[i], place]).sort((a, b) => Math.abs(a[0]) - Math.abs(b[0]));
    for (const [visits, place] of order) {
      const [a, b, c, d] = scene.lines[place];
      svgNode("line", { x1: X(a), y1: Y(b), x2: X(c), y2: Y(d), stroke: frame.signed ? paint(visits) : shade(0.35 + 0.65 * share(visits)), "stroke-width": 1 + 3.5 * share(visits), "stroke-linecap": "round" }, svg);
    }
  }
  (scene.discs || []).forEach(([x, y], place) => {
    const i = visited.get(place), fill = i === undefined ? "#fff" : paint(frame.visits[i]);
    svgNode("circle", { cx: X(x), cy: Y(y), r: 4.2, fill, stroke: "#4b5563", "stroke-width": 0.7 }, svg);
  });
  if (scene.moves && frame.choices) drawMoves(svg, scene, frame, X, Y, sx, share);
  // What a policy does may leave the bounds.
  const clip = svgNode("clipPath", { id: `bounds${++clips}` }, svg), inside = svgNode("g", { "clip-path": `url(#${clip.id})` }, svg);
  svgNode("rect", { x: X(x0), y: border, width: width - 2 * border, height: height - 2 * border }, clip);
  for (const path of frame.otherPaths || []) svgNode("polyline", { points: line(path), fill: "none", stroke: "#E69F00", "stroke-width": 1.4, "stroke-opacity": 0.8 }, inside);
  for (const path of frame.paths || []) {
    const ends = path.slice(-2);
    svgNode("polyline", { points: line(path), fill: "none", stroke: "#0072B2", "stroke-width": 1.4, "stroke-opacity": 0.65 }, inside);
    if (!scene.stretch || (frame.paths.length > 1)) svgNode("circle", { cx: X(ends[0]), cy: Y(ends[1]), r: 3, fill: "none", stroke: "#0072B2" }, inside);
  }
  for (const [x, y, radius] of frame.marks || []) {
    if (radius) svgNode("circle", { cx: X(x), cy: Y(y), r: radius * sx, fill: "#E69F00", "fill-opacity": 0.25, stroke: "#E69F00" }, inside);
    else svgNode("path", { d: `M${X(x) - 6},${Y(y) - 6}l12,12m0,-12l-12,12`, stroke: "#D55E00", "stroke-width": 3 }, inside);
  }
  for (const [x, y, low, high] of [...(scene.dots || []), ...(frame.dots || [])]) {
    svgNode("line", { x1: X(x), x2: X(x), y1: Y(low), y2: Y(high), stroke: "#555" }, inside);
    svgNode("circle", { cx: X(x), cy: Y(y), r: 2.6, fill: "#222" }, inside);
  }
  for (const [x, y, text] of scene.labels || []) svgNode("text", { x: X(x), y: Y(y) - 7, "font-size": 10, "text-anchor": "middle", "paint-order": "stroke", stroke: "#fff", "stroke-width": 3, fill: "#222" }, svg).textContent = text;
  if (scene.axes) {
    svgNode("rect", { x: X(x0), y: border, width: width - 2 * border, height: height - 2 * border, fill: "none", stroke: "#aab" }, svg);
    const write = (attributes, text) => { svgNode("text", { "font-size": 9, fill: "#5a6673", ...attributes }, svg).textContent = text; };
    const short = (value) => String(Number(value.toPrecision(3)));
    write({ x: X((x0 + x1) / 2), y: height - 6, "text-anchor": "middle" }, scene.axes[0]);
    write({ x: X(x0), y: height - 20, "text-anchor": "start" }, short(x0));
    write({ x: X(x1), y: height - 20, "text-anchor": "end" }, short(x1));
    write({ x: 0, y: 0, "text-anchor": "middle", transform: `translate(${left - border + 10} ${height / 2}) rotate(-90)` }, scene.axes[1]);
    write({ x: X(x0) - 3, y: Y(y0), "text-anchor": "end" }, short(y0));
    write({ x: X(x0) - 3, y: Y(y1) + 6, "text-anchor": "end" }, short(y1));
  }
  target.append(svg);
}

function drawMoves(svg, scene, frame, X, Y, size, share) {
  const actions = scene.moves[0].length / 2;
  frame.at.forEach((place, i) => {
    const [x, y] = scene.squares[place], colour = share(frame.visits[i]) > 0.55 ? "#fff" : "#16202b";
    for (let action = 0; action < actions; action++) {
      const chance = frame.choices[i * actions + action];
      if (chance < 0.04) continue;
      const dx = scene.moves[place][2 * action], dy = scene.moves[place][2 * action + 1];
      if (!dx && !dy) {
        svgNode("circle", { cx: X(x), cy: Y(y), r: 0.13 * size * Math.sqrt(chance), fill: colour }, svg);
        continue;
      }
      const reach = 0.47 * size * Math.sqrt(chance), head = Math.min(0.14 * size, 0.6 * reach);
      const tx = X(x) + dx * reach, ty = Y(y) + dy * reach, bx = tx - dx * head, by = ty - dy * head;
      svgNode("line", { x1: X(x), y1: Y(y), x2: bx, y2: by, stroke: colour, "stroke-width": 0.05 * size }, svg);
      svgNode("path", { d: `M${tx},${ty}L${bx - dy * 0.7 * head},${by + dx * 0.7 * head}L${bx + dy * 0.7 * head},${by - dx * 0.7 * head}Z`, fill: colour }, svg);
    }
  });
}
