/** State of a history entry while the viewer shows a file over its folder. */
export const VIEWED = 'viewed'
