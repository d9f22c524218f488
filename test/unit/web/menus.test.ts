/** Menus without a page: what keys do in them, and where they open. */
import { expect, test } from 'bun:test'
import { createMenuKeys } from '../../../web/shared/menus/menu-keys.ts'
import { menuPlace } from '../../../web/shared/menus/menu-place.ts'

const LABELS = ['Open', 'Download', 'Delete', 'Details', 'Äpfel']

test('arrows go round in a menu, Home and End to its ends, Escape and Tab out of it', () => {
  const keys = createMenuKeys()
  const press = (key: string, focused: number) =>
    keys({ key, timeStamp: 0, isCommand: false }, LABELS, focused)
  const at = (index: number) => ({ kind: 'focus', index }) as const
  expect(press('ArrowDown', 0)).toEqual(at(1))
  expect(press('ArrowDown', 4)).toEqual(at(0))
  expect(press('ArrowDown', -1)).toEqual(at(0))
  expect(press('ArrowUp', 0)).toEqual(at(4))
  expect(press('ArrowUp', -1)).toEqual(at(4))
  expect(press('Home', 3)).toEqual(at(0))
  expect(press('End', 1)).toEqual(at(4))
  for (const key of ['Escape', 'Tab']) expect(press(key, 1)).toEqual({ kind: 'leave' })
  for (const key of ['Enter', ' ', 'F2', 'Shift']) expect(press(key, 1)).toBeNull()
  expect(keys({ key: 'a', timeStamp: 0, isCommand: true }, LABELS, 0)).toBeNull()
})

test('letters go to the item that begins with them, and the same letter again to the next', () => {
  let now = 10_000
  const keys = createMenuKeys()
  const type = (text: string, focused: number) => {
    let at = focused
    for (const key of text) {
      now += 50
      const move = keys({ key, timeStamp: now, isCommand: false }, LABELS, at)
      if (move?.kind === 'focus') at = move.index
    }
    now += 2000
    return LABELS[at]
  }
  expect(type('d', 0)).toBe('Download')
  expect(type('dd', 0)).toBe('Delete')
  expect(type('de', 0)).toBe('Delete')
  expect(type('det', 0)).toBe('Details')
  expect(type('d', 3)).toBe('Download')
  expect(type('ä', 0)).toBe('Äpfel')
  expect(type('x', 2)).toBe('Delete')
})

test('a menu opens at its anchor, on the other side where there is no room, and always in the window', () => {
  const window = { width: 400, height: 800 }
  const menu = { width: 224, height: 320 }
  const pointer = (x: number, y: number) => ({ left: x, right: x, top: y, bottom: y })
  expect(menuPlace(pointer(20, 30), menu, window)).toEqual({ left: 20, top: 30 })
  expect(menuPlace(pointer(390, 30), menu, window)).toEqual({ left: 166, top: 30 })
  expect(menuPlace(pointer(20, 700), menu, window)).toEqual({ left: 20, top: 380 })
  // There is room on neither side.
  expect(menuPlace(pointer(200, 30), menu, window)).toEqual({ left: 168, top: 30 })
  const button = { left: 340, right: 384, top: 100, bottom: 144 }
  expect(menuPlace(button, menu, window)).toEqual({ left: 160, top: 144 })
  expect(menuPlace(pointer(50, 50), { width: 900, height: 900 }, window)).toEqual({ left: 8, top: 8 })
})
