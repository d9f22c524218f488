import { Refusal } from './errors.ts'

declare const brand: unique symbol

/** A colour as `#rrggbb`, in lower case, that can be read as text on a light page. */
export type Accent = string & { readonly [brand]: 'Accent' }

type Rgb = readonly [number, number, number]

/** Contrast of text, as WCAG 2.2 asks for it (1.4.3). */
const READABLE = 4.5
/** In the dark scheme the accent is lighter, so that buttons stand out from the page as they do in the light one. */
const READABLE_IN_THE_DARK = 6

/** As `--sunken` and the dark `--surface` in theme.css: the grounds that leave text the least contrast. */
const LIGHT_GROUND: Rgb = [0xec, 0xf1, 0xf1]
const DARK_GROUND: Rgb = [0x15, 0x1d, 0x1d]
const BLACK: Rgb = [0, 0, 0]
const WHITE: Rgb = [255, 255, 255]

/** `#rgb` or `#rrggbb`. Throws Refusal INVALID_REQUEST, also for a colour that is too light, with one that is not. */
export function parseAccent(text: string): Accent {
  const nearest = nearestAccent(text)
  if (nearest === null) {
    throw new Refusal('INVALID_REQUEST', '"accent": must be a colour such as #0f766e')
  }
  const accent = accentOrNull(text)
  if (accent === null) {
    throw new Refusal(
      'INVALID_REQUEST',
      `"accent": is too light to be read on a light page (at least ${READABLE} : 1 is needed); ${nearest} would do`,
    )
  }
  return accent
}

/** Null for a text that `parseAccent` refuses. */
export function accentOrNull(text: string): Accent | null {
  const rgb = rgbOf(text.trim())
  const nearest = nearestAccent(text)
  return rgb !== null && nearest === hex(rgb) ? nearest : null
}

/** The colour itself, or one as dark as is needed. Null for a text that is no colour. */
export function nearestAccent(text: string): Accent | null {
  const rgb = rgbOf(text.trim())
  return rgb === null ? null : (hex(towards(rgb, BLACK, LIGHT_GROUND, READABLE)) as Accent)
}

/** The stylesheet that gives the one action of a page this colour, in both schemes; the other colours stay. */
export function accentStyle(accent: Accent): string {
  const rgb = rgbOf(accent) ?? BLACK
  const inTheDark = towards(rgb, WHITE, DARK_GROUND, READABLE_IN_THE_DARK)
  const light = {
    accent: rgb,
    'accent-hover': mix(rgb, BLACK, 0.18),
    'accent-soft': mix(WHITE, rgb, 0.08),
    'on-accent': WHITE,
  }
  const dark = {
    accent: inTheDark,
    'accent-hover': mix(inTheDark, WHITE, 0.25),
    'accent-soft': mix(DARK_GROUND, inTheDark, 0.12),
    'on-accent': mix(BLACK, inTheDark, 0.08),
  }
  return `:root{${declared(light)}}@media (prefers-color-scheme:dark){:root{${declared(dark)}}}`
}

function declared(colours: Readonly<Record<string, Rgb>>): string {
  return Object.entries(colours)
    .map(([name, colour]) => `--${name}:${hex(colour)}`)
    .join(';')
}

/** The colour, moved in small steps towards another until it can be read. */
function towards(colour: Rgb, other: Rgb, ground: Rgb, needed: number): Rgb {
  for (let part = 0; part < 1; part += 0.02) {
    const tried = mix(colour, other, part)
    if (contrastOf(tried, ground) >= needed) return tried
  }
  return other
}

function mix(one: Rgb, other: Rgb, part: number): Rgb {
  const at = (index: 0 | 1 | 2) => Math.round(one[index] * (1 - part) + other[index] * part)
  return [at(0), at(1), at(2)]
}

function contrastOf(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one), luminance(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

/** Relative luminance (WCAG 2.2). */
function luminance([red, green, blue]: Rgb): number {
  const linear = (channel: number) => {
    const value = channel / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

function rgbOf(text: string): Rgb | null {
  const digits = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text)?.[1]
  if (digits === undefined) return null
  const wide = digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits
  const value = Number.parseInt(wide, 16)
  return [value >> 16, (value >> 8) & 0xff, value & 0xff]
}

function hex(colour: Rgb): string {
  return `#${colour.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}
