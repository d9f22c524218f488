/** Files of a folder one at a time, in a dark room over the folder's page; Back leads out of it. */
import PhotoSwipe from 'photoswipe'
import { zoneHere } from '../../src/domain/days.ts'
import { element } from '../file/elements.ts'
import type { FolderPageData } from '../folder/data.ts'
import { FILES_ADDED, WANT_FILES } from '../folder/more-files.ts'
import { VIEWED } from '../folder/viewed.ts'
import { titleOf } from '../shared/site-name.ts'
import { createWords, fill } from '../shared/words.ts'
import { showDetails } from './details.ts'
import { forgetFiles, openFile } from './opened-file.ts'
import { useOriginal } from './originals.ts'
import { fillPreview, playerIn } from './preview.ts'
import { type ViewedFile, viewedFile } from './slides.ts'
import { makeTools } from './tools.ts'

/** Milliseconds that a file is looked at before its page is asked for, which counts a view. */
const LOOKED_AT = 150
/** Milliseconds in which a file grows out of its tile, and shrinks into it. */
const MOTION = 200
/** Files from the end of those that are here, at which more are wanted. */
const NEAR_END = 8

function filesOf(page: Document): ViewedFile[] {
  return [...page.querySelectorAll<HTMLElement>('.file-item')].flatMap((item) => viewedFile(item) ?? [])
}

/** Opens the file of the link. `isReturning`: the address bar has its address already. */
export function openViewer(link: HTMLAnchorElement, page: FolderPageData, isReturning: boolean): void {
  const { texts } = page
  const files = filesOf(document)
  const index = files.findIndex(({ path }) => path === link.pathname)
  const words = createWords(page.locale, zoneHere())
  const viewer = new PhotoSwipe({
    dataSource: files,
    index: Math.max(0, index),
    arrowNextTitle: texts.next,
    arrowPrevTitle: texts.previous,
    bgOpacity: 1,
    closeTitle: texts.close,
    counter: false,
    errorMsg: texts.failed,
    imageClickAction: 'zoom',
    loop: false,
    mainClass: 'viewer',
    paddingFn: ({ x }) =>
      x < 640 ? { top: 0, bottom: 0, left: 0, right: 0 } : { top: 64, bottom: 16, left: 64, right: 64 },
    preload: [1, 2],
    returnFocus: false,
    hideAnimationDuration: MOTION,
    showAnimationDuration: MOTION,
    zoom: false,
  })
  const { title } = document
  const current = () => files[viewer.currIndex]

  const tools = makeTools(texts, () => {
    const file = current()
    if (file === undefined) return
    openFile(file.path)
      .then((opened) => {
        if (opened !== null && viewer.element !== undefined) showDetails(viewer.element, opened, texts)
      })
      .catch(() => {})
  })
  viewer.on('uiRegister', () => {
    viewer.ui?.registerElement({ name: 'title', order: 5, onInit: (box) => showTitle(box) })
    viewer.ui?.registerElement({
      name: 'tools',
      appendTo: 'root',
      onInit: (box) => box.append(tools.box),
    })
  })
  const showTitle = (box: HTMLElement) => {
    const place = element('span', { class: 'viewer-place' })
    const name = element('bdi', { class: 'viewer-file' })
    box.append(place, name)
    viewer.on('change', () => {
      name.textContent = current()?.name ?? ''
      const at = page.filesBefore + viewer.currIndex + 1
      const count = Math.max(page.fileCount, page.filesBefore + files.length)
      place.textContent = fill(texts.placeOf, { place: words.number(at), count: words.number(count) })
    })
  }

  const filled = new Set<object>()
  let looking: ReturnType<typeof setTimeout> | undefined
  const look = async () => {
    const { currSlide } = viewer
    const file = current()
    if (currSlide === undefined || file === undefined || filled.has(currSlide.content)) return
    const { content } = currSlide
    const isFirst = filled.size === 0
    filled.add(content)
    const opened = await openFile(file.path).catch(() => null)
    if (!viewer.isOpen) return
    if (content.type === 'image') {
      if (opened !== null) useOriginal(viewer, content, opened)
    } else if (content.element !== undefined) {
      fillPreview(content.element, file, opened, page)
      // Who has opened a film wants to see it; who comes by may not.
      if (isFirst && !isReturning)
        playerIn(content.element)
          ?.play()
          .catch(() => {})
      if (opened === null) filled.delete(content)
    }
  }
  viewer.on('change', () => {
    const file = current()
    if (file === undefined) return
    tools.show(file)
    document.title = titleOf(file.name)
    if (location.pathname !== file.path) history.replaceState(VIEWED, '', file.path)
    file.item.scrollIntoView({ block: 'nearest' })
    clearTimeout(looking)
    looking = setTimeout(() => void look(), LOOKED_AT)
    if (viewer.currIndex >= files.length - NEAR_END) document.dispatchEvent(new Event(WANT_FILES))
  })
  viewer.on('contentDeactivate', ({ content }) => playerIn(content.element)?.pause())
  viewer.on('keydown', (event) => {
    const { originalEvent } = event
    if (isSheetOpen()) return event.preventDefault()
    const { target } = originalEvent
    const player = playerIn(viewer.currSlide?.content.element)
    if (
      originalEvent.key === ' ' &&
      player !== null &&
      !(target instanceof HTMLButtonElement) &&
      target !== player
    ) {
      originalEvent.preventDefault()
      if (player.paused) player.play().catch(() => {})
      else player.pause()
    }
    // A player, a list to choose from and what scrolls have keys of their own.
    const isOwn =
      target instanceof Element && target.closest('video, audio, select, input, .stage [tabindex]')
    if (isOwn && !/^(Escape|Tab|ArrowLeft|ArrowRight)$/.test(originalEvent.key)) event.preventDefault()
    if (target instanceof HTMLMediaElement && /^Arrow/.test(originalEvent.key)) event.preventDefault()
  })

  const onAdded = () => {
    files.push(...filesOf(document).slice(files.length))
    viewer.refreshSlideContent(viewer.currIndex + 1)
  }
  document.addEventListener(FILES_ADDED, onAdded)
  let isLeft = false
  const leave = () => {
    isLeft = true
    viewer.close()
  }
  viewer.on('close', () => {
    window.removeEventListener('popstate', leave)
    document.removeEventListener(FILES_ADDED, onAdded)
    clearTimeout(looking)
    document.title = title
    if (!isLeft) history.back()
  })
  viewer.on('destroy', () => {
    history.scrollRestoration = 'auto'
    current()?.item.querySelector<HTMLElement>('.file-link')?.focus({ preventScroll: true })
    forgetFiles()
  })
  takeEarlyKeys(viewer)
  // The page below stays at the file that was looked at last.
  history.scrollRestoration = 'manual'
  if (!isReturning) history.pushState(VIEWED, '', link.pathname)
  window.addEventListener('popstate', leave)
  viewer.init()
  viewer.element?.setAttribute('aria-label', texts.viewer)
}

function isSheetOpen(): boolean {
  return document.querySelector('dialog[open]') !== null
}

/** PhotoSwipe takes keys only once it has opened: the last one before that is acted on then. */
function takeEarlyKeys(viewer: PhotoSwipe): void {
  const acts: Readonly<Record<string, () => void>> = {
    Escape: () => viewer.close(),
    ArrowLeft: () => viewer.prev(),
    ArrowRight: () => viewer.next(),
  }
  let wanted: (() => void) | undefined
  const take = (event: KeyboardEvent) => {
    if (!Object.hasOwn(acts, event.key) || isSheetOpen()) return
    wanted = acts[event.key]
    event.preventDefault()
    event.stopPropagation()
  }
  window.addEventListener('keydown', take, { capture: true })
  const end = () => window.removeEventListener('keydown', take, { capture: true })
  viewer.on('bindEvents', () => {
    end()
    wanted?.()
  })
  viewer.on('destroy', end)
}
