import type { FilePageData } from './data.ts'
import { element } from './elements.ts'
import { type PreviewContext, presentMessage } from './stage.ts'

const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]
/** Seconds. */
const STEP = 5
/** How often a player that broke off in the middle is set going again before it has played on. */
const TRIES = 3

/** Adds to the browser's player what it lacks: speeds, keys wherever the focus is, and going on after a broken line. */
export function show({ stage, page }: PreviewContext): void {
  const player = stage.querySelector<HTMLMediaElement>('video, audio')
  if (player === null) throw new Error('there is no player')
  stage.querySelector('#speed')?.append(speeds(player, page))
  onKeys(player)
  recover(player, () => presentMessage(stage, page, page.texts.cannotPlay))
}

function speeds(player: HTMLMediaElement, { locale, texts }: FilePageData): HTMLElement {
  const select = element('select')
  for (const speed of SPEEDS) {
    const option = element('option', { value: String(speed) }, `${speed.toLocaleString(locale)}×`)
    option.selected = speed === 1
    select.append(option)
  }
  select.addEventListener('change', () => {
    player.playbackRate = Number(select.value)
  })
  // The browser's own menu may change it too.
  player.addEventListener('ratechange', () => {
    select.value = String(player.playbackRate)
  })
  return element('label', { class: 'small' }, texts.speed, select)
}

/** As most players on the web have them. What has the focus keeps its own keys. */
function onKeys(player: HTMLMediaElement): void {
  const keys: Readonly<Record<string, () => void>> = {
    ' ': () => toggle(player),
    k: () => toggle(player),
    ArrowLeft: () => seek(player, -STEP),
    ArrowRight: () => seek(player, STEP),
    j: () => seek(player, -2 * STEP),
    l: () => seek(player, 2 * STEP),
    m: () => {
      player.muted = !player.muted
    },
    f: () => fullscreen(player),
    '<': () => changeSpeed(player, -1),
    '>': () => changeSpeed(player, 1),
  }
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return
    // One that the viewer showed is gone by now.
    if (event.target !== document.body || !player.isConnected) return
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined
    if (act === undefined) return
    event.preventDefault()
    act()
  })
}

function toggle(player: HTMLMediaElement): void {
  // Whether it may play is for the browser to say.
  if (player.paused) player.play().catch(() => {})
  else player.pause()
}

function seek(player: HTMLMediaElement, seconds: number): void {
  player.currentTime = Math.max(0, player.currentTime + seconds)
}

function fullscreen(player: HTMLMediaElement): void {
  const change = document.fullscreenElement === null ? player.requestFullscreen() : document.exitFullscreen()
  change.catch(() => {})
}

function changeSpeed(player: HTMLMediaElement, step: 1 | -1): void {
  const at = SPEEDS.findIndex((speed) => speed >= player.playbackRate)
  player.playbackRate = SPEEDS[at + step] ?? player.playbackRate
}

/**
 * A player that fails at its beginning cannot play the file. One that fails later has lost the line, or the address to
 * which the store sent it has run out: it is given the address again and goes on where it was.
 */
function recover(player: HTMLMediaElement, giveUp: () => void): void {
  let position = 0
  let isPlaying = false
  let tries = 0
  const notePosition = () => {
    if (player.currentTime > 0 && player.error === null) position = player.currentTime
  }
  player.addEventListener('seeking', notePosition)
  player.addEventListener('timeupdate', () => {
    notePosition()
    if (!player.seeking && player.error === null && player.currentTime > 0) tries = 0
  })
  player.addEventListener('play', () => {
    isPlaying = true
  })
  // A player that fails is paused by the browser, not by the person.
  player.addEventListener('pause', () => {
    if (player.error === null) isPlaying = false
  })
  const failed = () => {
    const hasPlayed = position > 0
    if (!hasPlayed || tries >= TRIES || player.error?.code === MediaError.MEDIA_ERR_DECODE) return giveUp()
    tries += 1
    setTimeout(() => {
      player.load()
      player.currentTime = position
      if (isPlaying) player.play().catch(() => {})
    }, 1000 * tries)
  }
  player.addEventListener('error', failed)
  // It may have failed before this was listening.
  if (player.error !== null) failed()
}
