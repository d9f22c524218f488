import type PhotoSwipe from 'photoswipe'
import { canShow } from '../file/picture.ts'
import type { OpenedFile } from './opened-file.ts'

type Content = NonNullable<PhotoSwipe['currSlide']>['content']

/** How much more than it fits a picture is zoomed in before the file itself is wanted. */
const ZOOMED = 1.05

/**
 * Puts the file itself in the place of its thumbnail: at once where the file's page shows it too, else when it
 * is zoomed in. What the browser cannot show stays a thumbnail.
 */
export function useOriginal(viewer: PhotoSwipe, content: Content, { page, document: of }: OpenedFile): void {
  const url = originalOf(page.preview, of)
  if (url === null) return
  let isWanted = page.preview?.isSmaller !== true
  const put = async () => {
    const original = new Image()
    original.src = url
    const { element } = content
    if (!(await canShow(original)) || !(element instanceof HTMLImageElement)) return
    delete content.data.srcset
    element.removeAttribute('srcset')
    element.src = url
  }
  if (isWanted) return void put()
  viewer.on('zoomPanUpdate', ({ slide }) => {
    if (isWanted || slide.content !== content || slide.currZoomLevel < slide.zoomLevels.initial * ZOOMED)
      return
    isWanted = true
    void put()
  })
}

function originalOf(preview: OpenedFile['page']['preview'], page: Document): string | null {
  if (preview?.kind !== 'image') return null
  return preview.isSmaller ? preview.url : (page.querySelector('#picture')?.getAttribute('src') ?? null)
}
