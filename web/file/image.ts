import { element } from './elements.ts'
import { canShow, isSeeThrough, originalButton } from './picture.ts'
import { type PreviewContext, presentMessage } from './stage.ts'
import { enableDragging, enablePinching } from './touch.ts'

/** One step of a key or a button. */
const STEP = 1.5
/** How much larger than it is a picture may be shown, and how much larger than it fits. */
const MAX_OF_NATURAL = 8
const MAX_OF_FIT = 8

/** A place in the frame, from its upper left corner. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** Lets a picture that fits the stage be looked at closely: a frame that scrolls, and a picture that grows in it. */
export async function show({ stage, source, page, words }: PreviewContext): Promise<void> {
  const picture = stage.querySelector<HTMLImageElement>('#picture')
  if (picture === null) throw new Error('there is no picture')
  const isItself = await canShow(picture)
  if (!isItself) {
    picture.src = page.pictureUrl ?? ''
    if (page.pictureUrl === null || !(await canShow(picture))) {
      return presentMessage(stage, page, page.texts.previewFailed)
    }
  }
  const frame = element('div', { class: 'zoom', tabindex: '0', role: 'region', 'aria-label': source.name })
  const level = element('output', { class: 'zoom-level' })
  const zoom = createZoom(frame, picture, (scale) => {
    level.textContent = scale.toLocaleString(page.locale, { style: 'percent' })
  })
  const { texts } = page
  const bar = element(
    'div',
    { class: 'zoom-bar', role: 'group', 'aria-label': texts.picture },
    button('−', texts.zoomOut, () => zoom.by(1 / STEP)),
    level,
    button('+', texts.zoomIn, () => zoom.by(STEP)),
    fitButton(texts.zoomFit, () => zoom.fit()),
  )
  picture.toggleAttribute('data-see-through', await isSeeThrough(picture, page.pictureUrl))
  frame.append(picture)
  stage.replaceChildren(frame, bar)
  if (page.preview?.isSmaller === true) {
    stage.append(originalButton({ picture, source, texts, words, swapped: () => zoom.measure() }))
  }
  if (!isItself) stage.append(element('p', { class: 'stage-note small quiet' }, texts.smallerPicture))
  zoom.fit()
  new ResizeObserver(() => zoom.refit()).observe(frame)
  enableKeys(frame, zoom)
  enableWheel(frame, zoom)
  enableDragging(frame)
  enablePinching(frame, (factor, at) => zoom.by(factor, at))
  frame.addEventListener('dblclick', ({ clientX, clientY }) => {
    zoom.toggle(within(frame, clientX, clientY))
  })
}

interface Zoom {
  by(factor: number, at?: Point): void
  fit(): void
  /** Between what fits and the picture's own size. */
  toggle(at: Point): void
  /** After the frame has changed: what fitted fits again. */
  refit(): void
  /** After another picture of the same has taken its place: it takes the same room. */
  measure(): void
}

function createZoom(frame: HTMLElement, picture: HTMLImageElement, tell: (scale: number) => void): Zoom {
  // A drawing without a size of its own has none here either.
  const widthOf = () => picture.naturalWidth || frame.clientWidth || 320
  const heightOf = () => picture.naturalHeight || frame.clientHeight || 320
  let width = widthOf()
  let height = heightOf()
  const fitting = () => Math.min(1, frame.clientWidth / width, frame.clientHeight / height)
  let scale = 1
  let isFitting = true

  const apply = (wanted: number, at: Point) => {
    const least = fitting()
    const next = Math.min(Math.max(wanted, least), Math.max(MAX_OF_NATURAL, least * MAX_OF_FIT))
    const before = picture.getBoundingClientRect()
    const box = frame.getBoundingClientRect()
    // What lies under the point stays there.
    const u = (at.x + box.left - before.left) / (before.width || 1)
    const v = (at.y + box.top - before.top) / (before.height || 1)
    scale = next
    isFitting = next === least
    picture.style.width = `${width * next}px`
    picture.style.height = `${height * next}px`
    frame.dataset.zoomed = String(!isFitting)
    const after = picture.getBoundingClientRect()
    frame.scrollBy(
      after.left + u * after.width - box.left - at.x,
      after.top + v * after.height - box.top - at.y,
    )
    tell(next)
  }
  const middle = (): Point => ({ x: frame.clientWidth / 2, y: frame.clientHeight / 2 })
  return {
    by: (factor, at = middle()) => apply(scale * factor, at),
    fit: () => apply(0, middle()),
    toggle: (at) => apply(isFitting ? Math.max(1, fitting() * 2) : 0, at),
    refit: () => apply(isFitting ? 0 : scale, middle()),
    measure() {
      const shown = width * scale
      width = widthOf()
      height = heightOf()
      apply(isFitting ? 0 : shown / width, middle())
    },
  }
}

function button(sign: string, label: string, act: () => void): HTMLButtonElement {
  const made = element('button', { type: 'button', 'aria-label': label, title: label }, sign)
  made.addEventListener('click', act)
  return made
}

function fitButton(label: string, act: () => void): HTMLButtonElement {
  const made = element('button', { type: 'button', class: 'zoom-fit' }, label)
  made.addEventListener('click', act)
  return made
}

/** The frame scrolls by the browser's own keys. */
function enableKeys(frame: HTMLElement, zoom: Zoom): void {
  frame.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return
    if (event.key === '+' || event.key === '=') zoom.by(STEP)
    else if (event.key === '-') zoom.by(1 / STEP)
    else if (event.key === '0') zoom.fit()
    else return
    event.preventDefault()
  })
}

/** A wheel scrolls, as everywhere. With Ctrl, which is also what a pinch on a touchpad is, it zooms. */
function enableWheel(frame: HTMLElement, zoom: Zoom): void {
  frame.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey) return
      event.preventDefault()
      zoom.by(Math.exp(-event.deltaY / 200), within(frame, event.clientX, event.clientY))
    },
    { passive: false },
  )
}

function within(frame: HTMLElement, x: number, y: number): Point {
  const { left, top } = frame.getBoundingClientRect()
  return { x: x - left, y: y - top }
}
