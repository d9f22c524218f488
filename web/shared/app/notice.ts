import type { ShownNotice } from '../../../src/contract/notice.ts'

/** Milliseconds between two polls. */
const EVERY = 60_000

/** The layout has a hidden element for it; a failed poll changes nothing. */
export function watchNotice(): void {
  const place = document.querySelector<HTMLElement>('.site-notice')
  if (place === null) return
  setInterval(() => {
    if (document.visibilityState === 'visible') look(place).catch(() => {})
  }, EVERY)
}

export function showNotice(notice: ShownNotice | null): void {
  const place = document.querySelector<HTMLElement>('.site-notice')
  if (place !== null) show(place, notice)
}

async function look(place: HTMLElement): Promise<void> {
  const response = await fetch('/api/v1/notice')
  if (!response.ok) return
  const notice = noticeOf(await response.json())
  if (notice !== undefined) show(place, notice)
}

function show(place: HTMLElement, notice: ShownNotice | null): void {
  place.hidden = notice === null
  place.textContent = notice?.text ?? ''
  place.className = `site-notice ${notice?.level ?? 'info'}`
}

function noticeOf(answer: unknown): ShownNotice | null | undefined {
  const data = fieldOf(answer, 'data')
  const notice = fieldOf(data, 'notice')
  if (notice === null) return null
  const [text, level] = [fieldOf(notice, 'text'), fieldOf(notice, 'level')]
  return typeof text === 'string' && (level === 'info' || level === 'warning') ? { text, level } : undefined
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined
}
