import { expect, test } from 'bun:test'
import { accentOrNull, accentStyle, nearestAccent, parseAccent } from '../../../src/domain/accent.ts'

test.each([
  ['#0F766E', '#0f766e'],
  [' #1d4ed8 ', '#1d4ed8'],
  ['#007', '#000077'],
])('%p is the colour %s', (text, accent) => {
  expect<string>(parseAccent(text)).toBe(accent)
})

test.each(['', 'teal', '0f766e', '#0f766', '#0f766e;}', 'rgb(0 0 0)', '#gggggg'])(
  '%p is no colour',
  (text) => {
    expect(nearestAccent(text)).toBeNull()
    expect(() => parseAccent(text)).toThrow('must be a colour')
  },
)

test('a colour too light for text is refused with a darker one, which is accepted', () => {
  expect(() => parseAccent('#ffcc00')).toThrow(/too light .* #[0-9a-f]{6} would do/)
  const nearest = nearestAccent('#ffcc00') ?? ''
  expect(accentOrNull('#ffcc00')).toBeNull()
  expect<string | null>(accentOrNull(nearest)).toBe(nearest)
})

test('only the action changes its colour, and text can be read in both schemes', () => {
  for (const colour of ['#0f766e', '#000000', '#1d4ed8', '#7a0000', '#5b21b6', '#767600']) {
    const accent = nearestAccent(colour)
    if (accent === null) throw new Error(colour)
    const style = accentStyle(accent)
    const [light, dark] = style.split('@media (prefers-color-scheme:dark)')
    const names = (part = '') => [...part.matchAll(/--([\w-]+):/g)].map(([, name]) => name)
    expect(names(light)).toEqual(['accent', 'accent-hover', 'accent-soft', 'on-accent'])
    expect(names(dark)).toEqual(names(light))
    for (const [part, page] of [
      [light, '#f6f9f9'],
      [dark, '#151d1d'],
    ] as const) {
      const of = (name: string) => new RegExp(`--${name}:(#[0-9a-f]{6})`).exec(part ?? '')?.[1] ?? ''
      for (const ground of [page, of('on-accent'), of('accent-soft')]) {
        expect(contrast(of('accent'), ground)).toBeGreaterThanOrEqual(4.5)
      }
      expect(contrast(of('accent-hover'), of('on-accent'))).toBeGreaterThanOrEqual(4.5)
    }
  }
})

/** Independent of the code that is tested (WCAG 2.2). */
function contrast(one: string, other: string): number {
  const luminance = (colour: string) =>
    [0.2126, 0.7152, 0.0722].reduce((sum, weight, index) => {
      const channel = Number.parseInt(colour.slice(1 + 2 * index, 3 + 2 * index), 16) / 255
      return sum + weight * (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4)
    }, 0)
  const [a, b] = [luminance(one), luminance(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}
