export const nearlyFullEn = {
  nearlyFull: 'Your storage is nearly full: {used} of {limit} used.',
  full: 'Your storage is full: {used} of {limit} used.',
  makeRoom: 'Delete what you no longer need, or ask whoever runs this server for more.',
  makeRoomInBin: 'Empty the bin, which holds {size}, or ask whoever runs this server for more.',
}
