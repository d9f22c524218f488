/** In the child process: previews for chats, composed of thumbnails. */
import sharp, { type OverlayOptions } from 'sharp'
import { CARD_HEIGHT, CARD_WIDTH, type CardKind } from '../domain/card.ts'

const GAP = 6
const GROUND = '#0b2a29'
const MARGIN = 28
const QUALITY = 82

/** The site's mark, as in `web/static/favicon.svg`, and a play button. Without text, for which a server may have no font. */
const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f766e"/><g transform="translate(4 4)" fill="none" stroke="#fff" stroke-linecap="round" stroke-linejoin="round" stroke-width="2"><path d="M12 12V6M12 9.5C8.2 9.5 6.2 7.2 6 3.5c3.7.2 6 2.2 6 6zM12 7.5c0-3 2-4.8 5.5-5 .1 3.3-1.9 5-5.5 5zM12 12c-3 .3-5.5 2.5-6 6M12 12c3 .3 5.5 2.5 6 6M12 12v5M3.5 21.5c2-6 15-6 17 0z"/></g></svg>'
const PLAY =
  '<svg xmlns="http://www.w3.org/2000/svg" width="140" height="140"><circle cx="70" cy="70" r="66" fill="#000" fill-opacity=".6"/><path d="M54 40v60l50-30z" fill="#fff"/></svg>'

interface Tile {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** JPEG. Throws what the library throws for bytes that are no picture. */
export async function composeCard(kind: CardKind, pictures: readonly Uint8Array[]): Promise<Uint8Array> {
  const [first] = pictures
  const isMosaic = kind === 'collection' && pictures.length > 1
  const parts = isMosaic || first === undefined ? await mosaic(pictures) : await whole(first)
  if (kind === 'film') parts.push({ input: await drawn(PLAY), gravity: 'centre' })
  if (kind === 'collection') {
    const mark = await drawn(MARK)
    parts.push({ input: mark, left: MARGIN, top: CARD_HEIGHT - MARGIN - 96 })
  }
  return sharp({ create: { width: CARD_WIDTH, height: CARD_HEIGHT, channels: 3, background: GROUND } })
    .composite(parts)
    .jpeg({ quality: QUALITY })
    .toBuffer()
}

/** All of it, before a blurred copy that fills the card. */
async function whole(picture: Uint8Array): Promise<OverlayOptions[]> {
  const behind = await sharp(picture)
    .resize({ width: CARD_WIDTH / 10, height: CARD_HEIGHT / 10, fit: 'cover' })
    .flatten({ background: GROUND })
    .modulate({ brightness: 0.6 })
    .blur(6)
    .toBuffer()
  const ground = await sharp(behind)
    .resize({ width: CARD_WIDTH, height: CARD_HEIGHT, kernel: 'cubic' })
    .toBuffer()
  const within = await sharp(picture)
    .resize({ width: CARD_WIDTH, height: CARD_HEIGHT, fit: 'inside' })
    .toBuffer()
  return [{ input: ground }, { input: within, gravity: 'centre' }]
}

async function mosaic(pictures: readonly Uint8Array[]): Promise<OverlayOptions[]> {
  const tiles = tilesFor(pictures.length)
  return Promise.all(
    tiles.map(async ({ left, top, width, height }, index) => ({
      input: await sharp(pictures[index])
        .resize({ width, height, fit: 'cover', position: 'attention' })
        .toBuffer(),
      left,
      top,
    })),
  )
}

const HALF = { width: (CARD_WIDTH - GAP) / 2, height: (CARD_HEIGHT - GAP) / 2 }
const QUARTER = { width: Math.floor((HALF.width - GAP) / 2), height: HALF.height }
const RIGHT = HALF.width + GAP
const BELOW = HALF.height + GAP
const FAR_RIGHT = RIGHT + QUARTER.width + GAP
const LEFT_HALF: Tile = { left: 0, top: 0, width: HALF.width, height: CARD_HEIGHT }

/** Of two pictures beside each other to one large with four small ones. */
function tilesFor(count: number): readonly Tile[] {
  switch (count) {
    case 2:
      return [LEFT_HALF, { ...LEFT_HALF, left: RIGHT }]
    case 3:
      return [LEFT_HALF, { left: RIGHT, top: 0, ...HALF }, { left: RIGHT, top: BELOW, ...HALF }]
    case 4:
      return [0, BELOW].flatMap((top) => [0, RIGHT].map((left) => ({ left, top, ...HALF })))
    default: {
      const small = [0, BELOW].flatMap((top) => [RIGHT, FAR_RIGHT].map((left) => ({ left, top, ...QUARTER })))
      return [LEFT_HALF, ...small]
    }
  }
}

const drawings = new Map<string, Buffer>()

/** Drawings of this file are the only SVG that is ever loaded here. */
async function drawn(svg: string): Promise<Buffer> {
  const known = drawings.get(svg)
  if (known !== undefined) return known
  const loader = { operation: ['VipsForeignLoadSvgBuffer'] }
  sharp.unblock(loader)
  try {
    const png = await sharp(Buffer.from(svg)).png().toBuffer()
    drawings.set(svg, png)
    return png
  } finally {
    sharp.block(loader)
  }
}
