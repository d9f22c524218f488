/** Small helpers for making elements. Text goes in as text nodes alone, so that no content ever becomes markup. */

type Attributes = Readonly<Record<string, string>>

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children)
  return made
}

/** Characters that turn the direction of what follows, so that a name or a line reads as something else. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/

/** The text of a stranger. Characters that would turn it around are shown as what they are instead. */
export function foreignText(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment()
  if (!TURNING.test(text)) {
    fragment.append(text)
    return fragment
  }
  for (const part of text.split(/([\u202a-\u202e\u2066-\u2069])/)) {
    fragment.append(TURNING.test(part) ? element('span', { class: 'turning' }, codePoint(part)) : part)
  }
  return fragment
}

function codePoint(character: string): string {
  return `U+${character.charCodeAt(0).toString(16).toUpperCase()}`
}
