/** A chart as a file: what is on the screen as SVG or PNG, the values behind it as CSV. */

import { svg } from "../parts/element";
import type { Spec } from "./chart";

/** What a drawing takes from the page's style, and needs when it stands alone. */
const CARRIED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-opacity", "font-family", "font-size", "font-weight", "opacity"];
/** A saved picture is for slides and documents: twice the pixels. */
const DENSITY = 2;
const TITLE_HEIGHT = 30;

export function saveSvg(drawing: SVGSVGElement, name: string, title: string): void {
  save(new Blob([alone(drawing, title)], { type: "image/svg+xml" }), `${name}.svg`);
}

export function savePng(drawing: SVGSVGElement, name: string, title: string): void {
  const source = URL.createObjectURL(new Blob([alone(drawing, title)], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width * DENSITY, image.height * DENSITY];
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(source);
    canvas.toBlob((blob) => { if (blob) save(blob, `${name}.png`); }, "image/png");
  };
  image.src = source;
}

export function saveCsv(spec: Spec): void {
  save(new Blob([csv(spec)], { type: "text/csv" }), `${spec.id}.csv`);
}

/** One row for each place on the x axis, one column for each series; bands have two. Numbers are as measured, not rounded. */
export function csv(spec: Spec): string {
  const columns: { name: string; values: Map<number, number | null> }[] = [];
  for (const series of spec.series) {
    const column = (name: string, values: readonly (number | null)[]) => columns.push({ name, values: new Map(series.x.map((at, index) => [at, values[index] ?? null])) });
    if (series.low) column(`${series.name} (low)`, series.low);
    column(series.low ? `${series.name} (high)` : series.name, series.y);
  }
  const places = [...new Set(spec.series.flatMap((series) => [...series.x]))].sort((a, b) => a - b);
  const rows = places.map((at) => [String(at), ...columns.map((column) => String(column.values.get(at) ?? ""))]);
  return [[spec.x.title, ...columns.map((column) => column.name)], ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** A text that a spreadsheet would take for a formula is kept from being one. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The drawing with its colours in itself, on the page's ground, under its title. */
function alone(drawing: SVGSVGElement, title: string): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const [from, to] = [drawing.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, index) => {
    const style = getComputedStyle(element);
    for (const name of CARRIED) to[index]?.setAttribute(name, style.getPropertyValue(name));
    to[index]?.removeAttribute("class");
  });
  copy.querySelectorAll("[visibility=hidden]").forEach((hidden) => hidden.remove());
  const [width, height] = [Number(drawing.getAttribute("width")), Number(drawing.getAttribute("height"))];
  const page = getComputedStyle(document.body);
  const whole = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height: height + TITLE_HEIGHT, viewBox: `0 ${-TITLE_HEIGHT} ${width} ${height + TITLE_HEIGHT}` },
    svg("rect", { x: 0, y: -TITLE_HEIGHT, width, height: height + TITLE_HEIGHT, fill: page.backgroundColor }),
    svg("text", { x: 10, y: -9, "font-family": page.fontFamily, "font-size": 16, "font-weight": 600, fill: page.color }, title),
    ...copy.childNodes,
  );
  return new XMLSerializer().serializeToString(whole);
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
