/** Elements, with text as text: nothing here or anywhere on these pages reads markup from a string. */

type Attributes = Record<string, string | number | boolean | null>;
type Child = Node | string | null | undefined | false;

export function element<K extends keyof HTMLElementTagNameMap>(name: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  return filled(document.createElement(name), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(name: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled<E extends Element>(made: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false));
  return made;
}
