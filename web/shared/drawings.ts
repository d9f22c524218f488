import { mark } from './mark.ts'

const square = (x: number, y: number) =>
  `M${x} ${y}a1 1 0 0 1 1 -1h4a1 1 0 0 1 1 1v4a1 1 0 0 1 -1 1h-4a1 1 0 0 1 -1 -1z`
const circle = (x: number, y: number, radius: number) =>
  `M${x} ${y}m-${radius} 0a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 -${2 * radius} 0`

/** Lines in a square of 24 units. All but the mark are of Tabler Icons (MIT licence, © Paweł Kuna). */
export const drawings = {
  alert: `${circle(12, 12, 9)}M12 8v4M12 16h.01`,
  check: 'M5 12l5 5l10 -10',
  copy: 'M7 9.667a2.667 2.667 0 0 1 2.667 -2.667h8.666a2.667 2.667 0 0 1 2.667 2.667v8.666a2.667 2.667 0 0 1 -2.667 2.667h-8.666a2.667 2.667 0 0 1 -2.667 -2.667zM4.012 16.737a2.005 2.005 0 0 1 -1.012 -1.737v-10c0 -1.1 .9 -2 2 -2h10c.75 0 1.158 .385 1.5 1',
  cross: 'M18 6l-12 12M6 6l12 12',
  down: 'M12 5l0 14M18 13l-6 6M6 13l6 6',
  download: 'M4 17v2a2 2 0 0 0 2 2h12a2 2 0 0 0 2 -2v-2M7 11l5 5l5 -5M12 4v12',
  file: 'M14 3v4a1 1 0 0 0 1 1h4M17 21h-10a2 2 0 0 1 -2 -2v-14a2 2 0 0 1 2 -2h7l5 5v11a2 2 0 0 1 -2 2z',
  flag: 'M5 5a5 5 0 0 1 7 0a5 5 0 0 0 7 0v9a5 5 0 0 1 -7 0a5 5 0 0 0 -7 0zM5 21v-7',
  folder: 'M5 4h4l3 3h7a2 2 0 0 1 2 2v8a2 2 0 0 1 -2 2h-14a2 2 0 0 1 -2 -2v-11a2 2 0 0 1 2 -2',
  gallery: square(4, 5) + square(14, 5) + square(4, 15) + square(14, 15),
  holdfast: mark,
  link: 'M9 15l6 -6M11 6l.463 -.536a5 5 0 0 1 7.071 7.072l-.534 .464M13 18l-.397 .534a5.068 5.068 0 0 1 -7.127 0a4.972 4.972 0 0 1 0 -7.071l.524 -.463',
  list: 'M9 6h11M9 12h11M9 18h11M5 6v.01M5 12v.01M5 18v.01',
  lock: 'M5 13a2 2 0 0 1 2 -2h10a2 2 0 0 1 2 2v6a2 2 0 0 1 -2 2h-10a2 2 0 0 1 -2 -2zM11 16a1 1 0 1 0 2 0a1 1 0 0 0 -2 0M8 11v-4a4 4 0 1 1 8 0v4',
  pause:
    'M6 6a1 1 0 0 1 1 -1h2a1 1 0 0 1 1 1v12a1 1 0 0 1 -1 1h-2a1 1 0 0 1 -1 -1zM14 6a1 1 0 0 1 1 -1h2a1 1 0 0 1 1 1v12a1 1 0 0 1 -1 1h-2a1 1 0 0 1 -1 -1z',
  play: 'M7 4v16l13 -8z',
  qrcode: `${square(4, 5)}${square(14, 5)}${square(4, 15)}M7 17v.01M7 7v.01M17 7v.01M14 14h3M20 14v.01M14 14v3M14 20h3M17 17h3M20 17v3`,
  refresh: 'M20 11a8.1 8.1 0 0 0 -15.5 -2m-.5 -4v4h4M4 13a8.1 8.1 0 0 0 15.5 2m.5 4v-4h-4',
  share: `${circle(6, 12, 3)}${circle(18, 6, 3)}${circle(18, 18, 3)}M8.7 10.7l6.6 -3.4M8.7 13.3l6.6 3.4`,
  undo: 'M9 14l-4 -4l4 -4M5 10h11a4 4 0 1 1 0 8h-1',
  up: 'M12 5l0 14M18 11l-6 -6M6 11l6 -6',
  upload: 'M4 17v2a2 2 0 0 0 2 2h12a2 2 0 0 0 2 -2v-2M7 9l5 -5l5 5M12 4v12',
  verify:
    'M11.46 20.846a12 12 0 0 1 -7.96 -14.846a12 12 0 0 0 8.5 -3a12 12 0 0 0 8.5 3a12 12 0 0 1 -.09 7.06M15 19l2 2l4 -4',
} as const

export type DrawingName = keyof typeof drawings
