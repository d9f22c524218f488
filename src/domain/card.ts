/** Pixels of previews in chats, the size that they ask for. */
export const CARD_WIDTH = 1200
export const CARD_HEIGHT = 630
/** Preview of a page for chats, at `card.jpg` below it; null: the one in `web/static`, which shows nothing of any content. */
export function cardUrl(publicUrl: string, path: string | null): string {
  return `${publicUrl}${path ?? ''}/card.jpg`
}

/** `picture` and `film` show the first picture alone. */
export type CardKind = 'picture' | 'film' | 'collection'
