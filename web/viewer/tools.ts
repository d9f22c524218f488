import { element } from '../file/elements.ts'
import type { ViewerTexts } from '../folder/data.ts'
import { toClipboard } from '../shared/clipboard.ts'
import { type DrawingName, drawings } from '../shared/drawings/drawings.ts'

/** Milliseconds. */
const SAID_FOR = 2500

export interface Tools {
  readonly box: HTMLElement
  /** Of the file that is shown. */
  show(file: { readonly name: string; readonly path: string }): void
}

/** Details, share and download: at the thumb on phones, at the top where there is room. */
export function makeTools(texts: ViewerTexts, details: () => void): Tools {
  const said = element('p', { class: 'viewer-said', role: 'status' })
  const download = element(
    'a',
    { class: 'viewer-tool', rel: 'nofollow' },
    icon('download'),
    word(texts.download),
  )
  let shared = { title: '', url: '' }
  let timer: ReturnType<typeof setTimeout> | undefined
  const say = (text: string) => {
    said.textContent = text
    clearTimeout(timer)
    timer = setTimeout(() => said.replaceChildren(), SAID_FOR)
  }
  const share = async () => {
    // On a desktop the sheet of the system is poorer than the clipboard.
    if ('share' in navigator && matchMedia('(pointer: coarse)').matches) {
      await navigator.share(shared).catch(() => {})
      return
    }
    say((await toClipboard(shared.url)) ? texts.linkCopied : texts.copyFailed)
  }
  return {
    box: element(
      'div',
      { class: 'viewer-tools pswp__hide-on-close' },
      tool('info', texts.details, details),
      tool('share', texts.share, () => void share()),
      download,
      said,
    ),
    show({ name, path }) {
      shared = { title: name, url: new URL(path, publicAddress()).href }
      download.href = `${path}?download=1`
      said.replaceChildren()
    },
  }
}

/** The page may be open at another address than the one to hand on. */
function publicAddress(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="og:url"]')?.content ?? location.href
}

function tool(drawing: DrawingName, label: string, act: () => void): HTMLButtonElement {
  const made = element('button', { class: 'viewer-tool', type: 'button' }, icon(drawing), word(label))
  made.addEventListener('click', act)
  return made
}

export function iconButton(drawing: DrawingName, label: string, act: () => void): HTMLButtonElement {
  const made = element(
    'button',
    { class: 'viewer-close', type: 'button', 'aria-label': label },
    icon(drawing),
  )
  made.addEventListener('click', act)
  return made
}

function word(text: string): HTMLElement {
  return element('span', {}, text)
}

const SVG = 'http://www.w3.org/2000/svg'

function icon(of: DrawingName): SVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', drawings[of])
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  svg.setAttribute('class', 'viewer-drawing')
  svg.append(path)
  return svg
}
