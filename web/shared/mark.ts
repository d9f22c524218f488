/** Kelp on its stone, held by its roots: the sign of Holdfast, lines in a square of 24 units. */
export const mark =
  'M12 12V6M12 9.5C8.2 9.5 6.2 7.2 6 3.5c3.7.2 6 2.2 6 6zM12 7.5c0-3 2-4.8 5.5-5 .1 3.3-1.9 5-5.5 5zM12 12c-3 .3-5.5 2.5-6 6M12 12c3 .3 5.5 2.5 6 6M12 12v5M3.5 21.5c2-6 15-6 17 0z'
