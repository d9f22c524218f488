import type { UploadLinkTexts } from './texts.ts'

export const uploadLinkEn: UploadLinkTexts = {
  title: '{owner} asks for files',
  asks: '{owner} asks you for files.',
  unseen: 'You need no account, and see nothing of what others send.',
  kinds: 'Only these kinds: {kinds}.',
  mediaTypes: { 'image/*': 'pictures', 'video/*': 'videos', 'audio/*': 'sound', 'text/*': 'texts' },
  full: 'This link takes no more files. Ask the person who sent it.',
  received: 'The file has arrived.',
  labels: { sender: 'Your name', address: 'Your e-mail address', reference: 'Reference' },
  optional: '{label} (optional)',
  app: {
    drop: 'Drop files or folders to send them',
    choose: 'Choose files to send',
    dropNow: 'Let go to send',
    paste: 'You can also paste a picture or text.',
    upload: 'Send',
    list: 'What you send',
    uploaded: { one: '{count} file sent', other: '{count} files sent' },
    notUploaded: { one: '{count} file not sent', other: '{count} files not sent' },
    uploading: { one: 'Sending {count} file', other: 'Sending {count} files' },
    states: {
      starting: 'Beginning',
      done: '{size}, arrived',
      deletionAsked: 'Withdraw this file? It is deleted for good, also for the person you sent it to.',
      deleting: 'Withdrawing',
      deletionFailed:
        'The file could not be withdrawn. If this link has ended, what was sent stays; else try again.',
      deleted: 'Withdrawn',
    },
    delete: 'Withdraw',
    deleteForGood: 'Withdraw for good',
    earlier: {
      title: { one: '{count} file sent from this browser', other: '{count} files sent from this browser' },
      why: 'Only you see them here. You can withdraw them as long as this link is in force.',
      facts: '{size}, sent on {day}',
      manage: 'Receipt',
      forgetAsked:
        'Forget what you sent? It stays with the person you sent it to, but you can no longer withdraw it here.',
    },
  },
}
