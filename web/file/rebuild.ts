import { element, foreignText } from './elements.ts'

/** What may be in code: the spans of the highlighter. */
const CODE: ReadonlySet<string> = new Set(['SPAN'])
/** What Markdown can be made of. */
const DOCUMENT: ReadonlySet<string> = new Set(
  'A BLOCKQUOTE BR CODE DEL EM H1 H2 H3 H4 H5 H6 HR LI OL P PRE SECTION STRONG SUP TABLE TBODY TD TH THEAD TR UL'.split(
    ' ',
  ),
)

/**
 * Builds the HTML that a library made from a stranger's text anew, out of nothing but elements and attributes named
 * here. The libraries escape what they must; this holds also on the day when one of them does not. Scripts do not run
 * and nothing is loaded while it is parsed, because its document has no window.
 */
export function rebuilt(html: string, kind: 'code' | 'document'): DocumentFragment {
  const { body } = new DOMParser().parseFromString(html, 'text/html')
  return childrenOf(body, kind)
}

function childrenOf(parent: Node, kind: 'code' | 'document'): DocumentFragment {
  const fragment = document.createDocumentFragment()
  for (const child of parent.childNodes) {
    if (child instanceof Text) fragment.append(foreignText(child.data))
    else if (child instanceof Element) fragment.append(copyOf(child, kind))
  }
  return fragment
}

function copyOf(original: Element, kind: 'code' | 'document'): Node {
  const { tagName } = original
  if (tagName === 'IMG') return leftOut(original.getAttribute('alt') ?? '')
  if (tagName === 'INPUT') return new Text(original.hasAttribute('checked') ? '☑ ' : '☐ ')
  const children = childrenOf(original, kind)
  if (tagName === 'A') return linkTo(original.getAttribute('href') ?? '', children)
  const allowed = kind === 'code' ? CODE : DOCUMENT
  if (!allowed.has(tagName)) return children
  const copy = document.createElement(tagName)
  if (kind === 'code') copy.className = highlightClasses(original)
  const start = original.getAttribute('start')
  if (tagName === 'OL' && start !== null && /^\d{1,9}$/.test(start)) copy.setAttribute('start', start)
  const align = original.getAttribute('align')
  if (align === 'center' || align === 'right') copy.className = `align-${align}`
  copy.append(children)
  return copy
}

/** Pictures are not loaded: they would tell other hosts who reads this. */
function leftOut(description: string): Node {
  return element('span', { class: 'left-out' }, foreignText(description === '' ? '…' : description))
}

function highlightClasses(original: Element): string {
  return [...original.classList].filter((name) => /^hljs-[a-z_-]+$|^[a-z]+_$/.test(name)).join(' ')
}

/** Leads out of here, or it is no link: an address without a site would lead to a page of ours. */
function linkTo(href: string, children: DocumentFragment): Node {
  if (!URL.canParse(href)) return children
  const { protocol } = new URL(href)
  if (protocol !== 'https:' && protocol !== 'http:' && protocol !== 'mailto:') return children
  const link = element('a', { href, rel: 'nofollow noopener noreferrer ugc', target: '_blank' })
  link.append(children)
  return link
}
