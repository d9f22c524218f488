import type { SlideData } from 'photoswipe'

/** Pixels of the longer side, of a picture whose size is unknown. */
const USUAL = 1920

/** A file of the folder, as its item on the page tells it. */
export interface ViewedFile extends SlideData {
  readonly item: HTMLElement
  readonly name: string
  readonly path: string
}

/** By items of the folder's page. What is no picture is filled in when it is looked at. */
export function viewedFile(item: HTMLElement): ViewedFile | null {
  const link = item.querySelector<HTMLAnchorElement>(':scope > .file-link')
  const thumbnail = item.querySelector<HTMLImageElement>('.thumbnail:not(.icon) > img')
  const { name = '', type = '' } = item.dataset
  if (link === null) return null
  const file = { item, name, path: link.pathname }
  if (thumbnail === null || !type.startsWith('image/')) return { ...file, type: 'preview', html: '' }
  return {
    ...file,
    ...sizeOf(item, thumbnail),
    alt: name,
    element: item,
    msrc: thumbnail.currentSrc || thumbnail.src,
    src: thumbnail.srcset === '' ? `${thumbnail.src}?size=large` : thumbnail.src,
    ...(thumbnail.srcset === '' ? {} : { srcset: thumbnail.srcset }),
    thumbCropped: true,
    type: 'image',
  }
}

function sizeOf(item: HTMLElement, thumbnail: HTMLImageElement): { width: number; height: number } {
  if (item.style.getPropertyValue('--ratio') !== '') {
    return {
      width: Number(thumbnail.getAttribute('width')),
      height: Number(thumbnail.getAttribute('height')),
    }
  }
  const { naturalWidth: width = 1, naturalHeight: height = 1 } = thumbnail
  const scale = USUAL / Math.max(width, height, 1)
  return { width: Math.round(width * scale) || USUAL, height: Math.round(height * scale) || USUAL }
}
