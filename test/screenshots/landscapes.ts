/** Pictures that belong to nobody, because they are drawn here: hills above the water and kelp below it. */
import sharp from 'sharp'
import { type Chance, chance } from '../support/chance.ts'

const WIDTH = 1600
const HEIGHT = 1200

interface Palette {
  readonly sky: readonly [string, string]
  readonly sun: string
  /** Far to near. */
  readonly layers: readonly [string, string]
}

const ABOVE: readonly Palette[] = [
  { sky: ['#f6c8a0', '#fdeedd'], sun: '#fff4d6', layers: ['#c98f86', '#3a3047'] },
  { sky: ['#8fb9d6', '#e8f1f2'], sun: '#ffffff', layers: ['#9db8bf', '#28444f'] },
  { sky: ['#39406e', '#e08e79'], sun: '#ffd9a0', layers: ['#7d5a7b', '#1d1d33'] },
  { sky: ['#a7c7a8', '#f3f3dc'], sun: '#fffbe3', layers: ['#93b08d', '#26402f'] },
]

const BELOW: readonly Palette[] = [
  { sky: ['#7fd0c7', '#0c4a52'], sun: '#d8fff4', layers: ['#2c8a78', '#06302f'] },
  { sky: ['#8cc6de', '#10355c'], sun: '#eafcff', layers: ['#2f7f6a', '#08252f'] },
]

/** A JPEG; the same number gives the same picture. */
export async function landscape(number: number, width = WIDTH): Promise<Uint8Array<ArrayBuffer>> {
  const height = Math.round((width * HEIGHT) / WIDTH)
  const picture = sharp(Buffer.from(drawing(number))).resize(width, height)
  return new Uint8Array(await picture.jpeg({ quality: 86 }).toBuffer())
}

/** The same as an SVG document. */
function drawing(number: number): string {
  const random = chance(number + 1)
  const isBelow = number % 3 === 2
  const palettes = isBelow ? BELOW : ABOVE
  const palette = palettes[Math.floor(number / 3) % palettes.length] ?? palettes[0]
  if (palette === undefined) throw new Error('there is no palette')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">`,
    '<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">',
    `<stop offset="0" stop-color="${palette.sky[0]}"/><stop offset="1" stop-color="${palette.sky[1]}"/>`,
    '</linearGradient><radialGradient id="sun">',
    `<stop offset="0" stop-color="${palette.sun}"/><stop offset="0.35" stop-color="${palette.sun}" stop-opacity="0.9"/>`,
    `<stop offset="1" stop-color="${palette.sun}" stop-opacity="0"/></radialGradient></defs>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="url(#sky)"/>`,
    isBelow ? kelp(random, palette) : hills(random, palette),
    '</svg>',
  ].join('')
}

function hills(random: Chance, { layers }: Palette): string {
  const x = between(random, 300, 1300)
  const y = between(random, 280, 520)
  const parts = [`<circle cx="${x}" cy="${y}" r="220" fill="url(#sun)"/>`]
  const count = 5
  for (let layer = 0; layer < count; layer++) {
    const base = 560 + layer * 130
    const color = mixed(layers[0], layers[1], layer / (count - 1))
    parts.push(`<path d="${ridge(random, base, 150 - layer * 14)}" fill="${color}"/>`)
  }
  return parts.join('')
}

/** A line of waves over the whole width, closed at the bottom. */
function ridge(random: Chance, base: number, height: number): string {
  const waves = [1, 2.3, 4.1].map((length, at) => ({
    length: (length * 2 * Math.PI) / WIDTH,
    height: height / (at + 1.4),
    shift: between(random, 0, 7),
  }))
  const points: string[] = []
  for (let x = 0; x <= WIDTH; x += 20) {
    const y = waves.reduce((sum, wave) => sum - wave.height * Math.sin(x * wave.length + wave.shift), base)
    points.push(`L${x} ${y.toFixed(1)}`)
  }
  return `M0 ${HEIGHT}${points.join('')}L${WIDTH} ${HEIGHT}z`
}

function kelp(random: Chance, { layers, sun }: Palette): string {
  const parts = [
    `<circle cx="${between(random, 500, 1100)}" cy="-40" r="620" fill="url(#sun)" opacity="0.7"/>`,
  ]
  for (let ray = 0; ray < 6; ray++) {
    const x = between(random, 100, 1500)
    const lean = between(random, -260, 260)
    const end = `L${x + lean + 130} ${HEIGHT}L${x + lean - 130} ${HEIGHT}`
    parts.push(`<path d="M${x - 24} 0L${x + 24} 0${end}z" fill="${sun}" opacity="0.06"/>`)
  }
  for (let row = 0; row < 4; row++) {
    const color = mixed(layers[0], layers[1], row / 3)
    for (let plant = 0; plant < 5; plant++)
      parts.push(stalk(random, 120 + row * 110, color, 0.6 + row * 0.15))
    parts.push(`<path d="${ridge(random, 1030 + row * 45, 40)}" fill="${color}"/>`)
  }
  return parts.join('')
}

/** From the ground up to `top`, with leaves to both sides. */
function stalk(random: Chance, top: number, color: string, size: number): string {
  const foot = between(random, 0, WIDTH)
  const sway = between(random, 30, 80)
  const shift = between(random, 0, 7)
  const at = (y: number) => foot + sway * Math.sin(y / 190 + shift)
  const line: string[] = []
  const leaves: string[] = []
  for (let y = HEIGHT, leaf = 0; y > top; y -= 46, leaf++) {
    line.push(`${line.length === 0 ? 'M' : 'L'}${at(y).toFixed(1)} ${y}`)
    const side = leaf % 2 === 0 ? 1 : -1
    const tip = `${(at(y) + side * 96 * size).toFixed(1)} ${y - 74 * size}`
    const bend = `${(at(y) + side * 60 * size).toFixed(1)} ${y + 18 * size}`
    leaves.push(
      `M${at(y).toFixed(1)} ${y}Q${bend} ${tip}Q${(at(y) + side * 14).toFixed(1)} ${y - 60 * size} ${at(y).toFixed(1)} ${y}`,
    )
  }
  const stroke = `fill="none" stroke="${color}" stroke-linecap="round" stroke-width="${9 * size}"`
  return `<path d="${line.join('')}" ${stroke}/><path d="${leaves.join('')}" fill="${color}" opacity="0.92"/>`
}

function between(random: Chance, least: number, most: number): number {
  return least + Math.round(random.fraction() * (most - least))
}

/** A colour between two of `#rrggbb`. */
function mixed(from: string, to: string, share: number): string {
  const channel = (color: string, at: number) => Number.parseInt(color.slice(1 + at * 2, 3 + at * 2), 16)
  const parts = [0, 1, 2].map((at) => {
    const value = channel(from, at) * (1 - share) + channel(to, at) * share
    return Math.round(value).toString(16).padStart(2, '0')
  })
  return `#${parts.join('')}`
}
