import type { Texts } from './texts.ts'

export const en: Texts = {
  common: {
    toStart: 'Go to the start page',
    tryAgain: 'Try again',
    files: { one: '{count} file', other: '{count} files' },
    folders: { one: '{count} folder', other: '{count} folders' },
    days: { one: '{count} day', other: '{count} days' },
    bytes: { one: '{count} byte', other: '{count} bytes' },
    seconds: { one: '{count} second', other: '{count} seconds' },
    minutes: { one: '{count} minute', other: '{count} minutes' },
  },
  start: {
    title: 'Files in, links out',
    description: 'Put a file in, get a short link out.',
    drop: 'Drop a file to get a link',
    choose: 'Choose a file to get a link',
    file: 'File',
    upload: 'Upload and get a link',
    limit: 'Up to {size} a file.',
    expiry: 'A file that nobody opens for {days} is removed.',
    terminal: 'From a terminal:',
    terminalWithKey: 'From a terminal, with your key:',
    keyNeeded: 'Uploads need an API key',
    keyNeededWhy: 'Whoever runs this server can give you one. Links to files work without it.',
  },
  file: {
    download: 'Download',
    details: 'Details',
    keptUntil: 'Kept until {day}, and longer each time somebody opens it.',
    arriving: 'This file is still arriving',
    arrivingWhy: 'Its upload is not complete yet. This link will show it as soon as it is.',
  },
  folder: {
    downloadAll: 'Download all as a zip',
    folders: 'Folders',
    files: 'Files',
    empty: 'Files put into this folder will show up here.',
    passwordNeeded: 'Password needed',
    pages: 'Pages',
    previousPage: 'Previous page',
    nextPage: 'Next page',
    pageOf: 'Page {page} of {pages}',
  },
  password: {
    title: 'Password needed',
    why: 'Whoever gave you this link can tell you the password.',
    label: 'Password',
    unlock: 'Unlock',
    wrong: 'That is not the password. Capital and small letters differ.',
    tooMany: 'There were too many wrong tries. Try again in {wait}.',
  },
  errors: {
    wait: 'Try again in {wait}.',
    wholeFile: 'Open the whole file',
    codes: {
      FILE_NOT_FOUND: {
        title: 'This file is not here',
        message:
          'It may have been deleted, or nobody opened it for so long that it was removed. Check the link, or ask whoever sent it.',
      },
      FILE_ARRIVING: {
        title: 'This file is still arriving',
        message: 'Its upload is not complete yet. Try again in a while.',
      },
      FOLDER_NOT_FOUND: {
        title: 'This folder is not here',
        message: 'It may have been deleted or made private. Check the link, or ask whoever sent it.',
      },
      NOT_FOUND: {
        title: 'This page is not here',
        message: 'There is nothing at this address. Check the link for letters that were lost.',
      },
      UPLOAD_NOT_FOUND: {
        title: 'This upload is not here',
        message: 'It was finished, cancelled or given up. Start it again.',
      },
      UPLOAD_GONE: { title: 'This upload is gone', message: 'It cannot go on. Start it again.' },
      UPLOAD_IS_FINAL: {
        title: 'This upload is complete',
        message: 'Nothing more can be added to it.',
      },
      UPLOAD_LOCKED: {
        title: 'This upload is busy',
        message: 'Another connection is sending to it. Try again in a moment.',
      },
      OFFSET_CONFLICT: {
        title: 'This upload is at another place',
        message: 'Ask the server how much it has, and go on from there.',
      },
      CHECKSUM_MISMATCH: {
        title: 'Something was changed on the way',
        message: 'What arrived is not what was sent. Send it again.',
      },
      REQUEST_UNDER_WAY: {
        title: 'This is being done already',
        message: 'The same request came before and is not finished. Try again in a moment.',
      },
      PASSWORD_REQUIRED: {
        title: 'A password comes first',
        message: 'Open the page of the file or the folder; it asks for the password.',
      },
      WRONG_PASSWORD: {
        title: 'That is not the password',
        message: 'Check it and try again. Capital and small letters differ.',
      },
      INVALID_TOKEN: {
        title: 'This link no longer works',
        message: 'Such links work for a short time only. Open the page of the file again for a new one.',
      },
      INVALID_API_KEY: {
        title: 'This needs a valid API key',
        message: 'The key is missing or is not valid. Check it with whoever runs this server.',
      },
      ACCOUNT_DISABLED: {
        title: 'This account is switched off',
        message: 'Ask whoever runs this server.',
      },
      GUEST_UPLOADS_DISABLED: {
        title: 'Uploads need an API key',
        message: 'Whoever runs this server can give you one. Links to files work without it.',
      },
      RANGE_NOT_SATISFIABLE: {
        title: 'This part of the file does not exist',
        message: 'The browser asked for bytes past the end of the file, which may have changed since.',
      },
      RATE_LIMITED: {
        title: 'Too many requests',
        message: 'This server takes only so many in an hour from one address.',
      },
      INTERNAL_ERROR: {
        title: 'Something went wrong here',
        message: 'The failure is on our side and was written down. Try again in a moment.',
      },
      STORAGE_UNAVAILABLE: {
        title: 'The files are out of reach',
        message: 'The server cannot get at its storage, or has no room left. Try again later.',
      },
      DATABASE_UNAVAILABLE: {
        title: 'Back in a moment',
        message: 'The server cannot reach its database. Nothing is lost.',
      },
      SHUTTING_DOWN: { title: 'Back in a moment', message: 'The server is restarting. Nothing is lost.' },
      FILE_TOO_LARGE: {
        title: 'This file is too large',
        message: 'It is larger than this server takes. The start page says how large files may be.',
      },
      STORAGE_LIMIT_EXCEEDED: {
        title: 'There is no room left',
        message: 'The storage of this account is full. Delete something, then try again.',
      },
      PAYLOAD_TOO_LARGE: {
        title: 'That was too much',
        message: 'What was sent is larger than expected here.',
      },
      INVALID_REQUEST: {
        title: 'That did not work',
        message: 'What was sent is not what is expected here. Go back and try again.',
      },
      INVALID_NAME: { title: 'This name cannot be used', message: 'Choose another one.' },
      DUPLICATE_NAME: { title: 'This name is taken', message: 'Choose another one.' },
      INVALID_DESTINATION: { title: 'That does not fit there', message: 'Choose another place.' },
      MAX_DEPTH_EXCEEDED: { title: 'These folders are too deep', message: 'Choose a place further up.' },
      METHOD_NOT_ALLOWED: { title: 'That did not work', message: 'This address is for something else.' },
      PRECONDITION_FAILED: {
        title: 'This has changed in the meantime',
        message: 'Load the page again to see how it is now.',
      },
      REQUEST_TIMEOUT: {
        title: 'That took too long',
        message: 'The connection stood still. Try again.',
      },
      UNSUPPORTED_MEDIA_TYPE: {
        title: 'That did not work',
        message: 'This is sent in a form that is not read here.',
      },
    },
  },
}
