import type { Texts } from './texts.ts'

export const de: Texts = {
  common: {
    toStart: 'Zur Startseite',
    tryAgain: 'Noch einmal versuchen',
    files: { one: '{count} Datei', other: '{count} Dateien' },
    folders: { one: '{count} Ordner', other: '{count} Ordner' },
    days: { one: '{count} Tag', other: '{count} Tage' },
    bytes: { one: '{count} Byte', other: '{count} Bytes' },
    seconds: { one: '{count} Sekunde', other: '{count} Sekunden' },
    minutes: { one: '{count} Minute', other: '{count} Minuten' },
  },
  start: {
    title: 'Datei hinein, Link heraus',
    description: 'Datei hineinlegen, kurzen Link bekommen.',
    drop: 'Datei hier ablegen und Link bekommen',
    choose: 'Datei wählen und Link bekommen',
    file: 'Datei',
    upload: 'Hochladen und Link bekommen',
    limit: 'Bis zu {size} je Datei.',
    expiry: 'Was {days} lang niemand öffnet, wird entfernt.',
    terminal: 'Im Terminal:',
    terminalWithKey: 'Im Terminal, mit deinem Schlüssel:',
    keyNeeded: 'Zum Hochladen braucht es einen API-Schlüssel',
    keyNeededWhy: 'Den vergibt, wer diesen Server betreibt. Links zu Dateien funktionieren ohne ihn.',
  },
  file: {
    download: 'Herunterladen',
    details: 'Einzelheiten',
    keptUntil: 'Bleibt bis zum {day}, und länger, sooft jemand sie öffnet.',
    downloads: { one: '{count} Mal heruntergeladen', other: '{count} Mal heruntergeladen' },
    link: 'Link zu dieser Seite',
    copy: 'Link kopieren',
    qrCode: 'QR-Code',
    open: 'Text anzeigen',
    verify: 'Kopie prüfen',
    verifyWhy: 'Wähle eine Datei, die du hast, um zu sehen, ob es diese ist. Sie wird nicht hochgeladen.',
    arriving: 'Diese Datei kommt noch an',
    arrivingWhy: 'Sie ist noch nicht fertig hochgeladen. Sobald sie da ist, erscheint sie unter diesem Link.',
    lookAgain: 'Noch einmal nachsehen',
    script: {
      copied: 'Kopiert',
      copyFailed: 'Der Browser hat es nicht erlaubt; der Link ist zum Kopieren markiert.',
      previewFailed: 'Hier lässt sich das nicht zeigen. Herunterladen lässt sich die Datei, wie sie ist.',
      downloadInstead: 'Datei herunterladen',
      cannotPlay: 'Dieser Browser kann das nicht abspielen. Andere Programme können es vielleicht.',
      empty: 'Diese Datei ist leer.',
      binary: 'Das ist kein Text, auch wenn der Name es sagt.',
      shownPart: 'Das sind die ersten {shown} von {size}.',
      firstRows: 'Das sind die ersten {rows} Zeilen.',
      firstRowsAndColumns: 'Das sind die ersten {rows} Zeilen und {columns} Spalten.',
      firstEntries: 'Das sind die ersten {shown} von {total} Einträgen.',
      entries: { one: '{count} Eintrag', other: '{count} Einträge' },
      entryName: 'Name',
      entrySize: 'Größe',
      noEntries: 'In diesem Archiv ist nichts.',
      firstPages: 'Das sind die ersten {shown} von {total} Seiten.',
      pageOf: 'Seite {page} von {pages}',
      locked: 'Dieses Dokument hat ein Passwort. Heruntergeladen lässt es sich damit öffnen.',
      zoomIn: 'Vergrößern',
      zoomOut: 'Verkleinern',
      zoomFit: 'Einpassen',
      picture: 'Größe des Bildes',
      smallerPicture: 'Die Datei selbst kann dieser Browser nicht zeigen; dies ist ein kleineres Bild davon.',
      speed: 'Tempo',
      hashing: 'Wird verglichen …',
      match: 'Das ist dieselbe Datei, Byte für Byte.',
      mismatch: 'Das ist nicht dieselbe Datei: Der Inhalt ist ein anderer.',
      otherSize: 'Das ist nicht dieselbe Datei: Sie hat {chosen}, diese hier {size}.',
      unreadable: 'Die Datei ließ sich nicht lesen. Wähle sie noch einmal.',
    },
  },
  folder: {
    downloadAll: 'Alles als Zip herunterladen',
    folders: 'Ordner',
    files: 'Dateien',
    empty: 'Hier erscheinen die Dateien, die in diesen Ordner gelegt werden.',
    passwordNeeded: 'Mit Passwort',
    pages: 'Seiten',
    previousPage: 'Vorherige Seite',
    nextPage: 'Nächste Seite',
    pageOf: 'Seite {page} von {pages}',
  },
  password: {
    title: 'Passwort nötig',
    why: 'Das Passwort kennt, wer dir diesen Link gegeben hat.',
    label: 'Passwort',
    unlock: 'Öffnen',
    wrong: 'Das ist nicht das Passwort. Auf Groß- und Kleinschreibung kommt es an.',
    tooMany: 'Das waren zu viele falsche Versuche. Neuer Versuch in {wait}.',
  },
  report: {
    link: 'Diese Datei melden',
    title: 'Diese Datei melden',
    why: 'Die Meldung geht an die Betreiber dieses Servers. Deine Adresse wird nicht mit ihr aufbewahrt.',
    reason: 'Was stimmt mit dieser Datei nicht?',
    reasons: {
      child_abuse: 'Sie zeigt den Missbrauch eines Kindes',
      illegal: 'Sie ist aus einem anderen Grund verboten',
      malware: 'Sie ist Schadsoftware oder Phishing',
      privacy: 'Sie zeigt jemanden oder dessen Daten gegen seinen Willen',
      copyright: 'Sie verletzt ein Urheberrecht',
      spam: 'Sie ist Spam',
      other: 'Etwas anderes',
    },
    reasonMissing: 'Wähle, was damit nicht stimmt.',
    text: 'Was sollte man noch wissen?',
    textHint: 'Freiwillig, bis zu {count} Zeichen.',
    textTooLong: 'Kürze das auf {count} Zeichen.',
    tooMany: 'Von deiner Adresse kamen zu viele Meldungen. Neuer Versuch in {wait}.',
    send: 'Meldung senden',
    thanks: 'Danke',
    thanksWhy: 'Deine Meldung liegt für die Betreiber dieses Servers bereit.',
    back: 'Zurück zur Datei',
  },
  errors: {
    wait: 'Neuer Versuch in {wait}.',
    wholeFile: 'Ganze Datei öffnen',
    codes: {
      FILE_NOT_FOUND: {
        title: 'Diese Datei gibt es hier nicht',
        message:
          'Vielleicht wurde sie gelöscht, oder sie wurde entfernt, weil sie lange niemand geöffnet hat. Prüfe den Link oder frage, wer ihn geschickt hat.',
      },
      FILE_ARRIVING: {
        title: 'Diese Datei kommt noch an',
        message: 'Sie ist noch nicht fertig hochgeladen. Versuche es in einer Weile noch einmal.',
      },
      FOLDER_NOT_FOUND: {
        title: 'Diesen Ordner gibt es hier nicht',
        message:
          'Vielleicht wurde er gelöscht oder ist nicht mehr öffentlich. Prüfe den Link oder frage, wer ihn geschickt hat.',
      },
      NOT_FOUND: {
        title: 'Diese Seite gibt es nicht',
        message: 'Unter dieser Adresse ist nichts. Prüfe, ob im Link Buchstaben fehlen.',
      },
      UPLOAD_NOT_FOUND: {
        title: 'Diesen Upload gibt es nicht',
        message: 'Er wurde abgeschlossen, abgebrochen oder aufgegeben. Beginne ihn neu.',
      },
      UPLOAD_GONE: {
        title: 'Diesen Upload gibt es nicht mehr',
        message: 'Er kann nicht weitergehen. Beginne ihn neu.',
      },
      UPLOAD_IS_FINAL: {
        title: 'Dieser Upload ist abgeschlossen',
        message: 'Es kann nichts mehr hinzukommen.',
      },
      UPLOAD_LOCKED: {
        title: 'Dieser Upload ist beschäftigt',
        message: 'Eine andere Verbindung sendet gerade. Versuche es gleich noch einmal.',
      },
      OFFSET_CONFLICT: {
        title: 'Dieser Upload ist an anderer Stelle',
        message: 'Frage den Server, wie viel er hat, und mache dort weiter.',
      },
      CHECKSUM_MISMATCH: {
        title: 'Unterwegs hat sich etwas verändert',
        message: 'Was ankam, ist nicht das, was gesendet wurde. Sende es noch einmal.',
      },
      REQUEST_UNDER_WAY: {
        title: 'Das geschieht schon',
        message: 'Dieselbe Anfrage kam schon und läuft noch. Versuche es gleich noch einmal.',
      },
      PASSWORD_REQUIRED: {
        title: 'Erst das Passwort',
        message: 'Öffne die Seite der Datei oder des Ordners; dort wird danach gefragt.',
      },
      WRONG_PASSWORD: {
        title: 'Das ist nicht das Passwort',
        message: 'Prüfe es und versuche es noch einmal. Auf Groß- und Kleinschreibung kommt es an.',
      },
      INVALID_TOKEN: {
        title: 'Dieser Link gilt nicht mehr',
        message: 'Solche Links gelten nur kurz. Auf der Seite der Datei gibt es einen neuen.',
      },
      INVALID_API_KEY: {
        title: 'Dazu braucht es einen gültigen API-Schlüssel',
        message: 'Der Schlüssel fehlt oder gilt nicht. Frage, wer diesen Server betreibt.',
      },
      ACCOUNT_DISABLED: {
        title: 'Dieses Konto ist abgeschaltet',
        message: 'Frage, wer diesen Server betreibt.',
      },
      GUEST_UPLOADS_DISABLED: {
        title: 'Zum Hochladen braucht es einen API-Schlüssel',
        message: 'Den vergibt, wer diesen Server betreibt. Links zu Dateien funktionieren ohne ihn.',
      },
      RANGE_NOT_SATISFIABLE: {
        title: 'Diesen Teil der Datei gibt es nicht',
        message:
          'Der Browser hat nach Bytes hinter dem Ende der Datei gefragt; vielleicht hat sie sich seitdem geändert.',
      },
      RATE_LIMITED: {
        title: 'Zu viele Anfragen',
        message: 'Dieser Server nimmt von einer Adresse nur eine begrenzte Zahl in der Stunde an.',
      },
      INTERNAL_ERROR: {
        title: 'Hier ist etwas schiefgegangen',
        message: 'Der Fehler liegt bei uns und ist vermerkt. Versuche es gleich noch einmal.',
      },
      STORAGE_UNAVAILABLE: {
        title: 'Die Dateien sind nicht erreichbar',
        message:
          'Der Server kommt nicht an seinen Speicher, oder es ist kein Platz mehr. Versuche es später noch einmal.',
      },
      DATABASE_UNAVAILABLE: {
        title: 'Gleich wieder da',
        message: 'Der Server erreicht seine Datenbank nicht. Verloren ist nichts.',
      },
      SHUTTING_DOWN: {
        title: 'Gleich wieder da',
        message: 'Der Server startet neu. Verloren ist nichts.',
      },
      FILE_TOO_LARGE: {
        title: 'Diese Datei ist zu groß',
        message:
          'Sie ist größer, als dieser Server annimmt. Wie groß Dateien sein dürfen, steht auf der Startseite.',
      },
      STORAGE_LIMIT_EXCEEDED: {
        title: 'Der Platz reicht nicht',
        message: 'Der Speicher dieses Kontos ist voll. Lösche etwas und versuche es dann noch einmal.',
      },
      PAYLOAD_TOO_LARGE: {
        title: 'Das war zu viel',
        message: 'Was gesendet wurde, ist größer, als es hier sein darf.',
      },
      INVALID_REQUEST: {
        title: 'Das hat nicht geklappt',
        message:
          'Hier wird etwas anderes erwartet, als gesendet wurde. Geh zurück und versuche es noch einmal.',
      },
      INVALID_NAME: { title: 'Dieser Name geht nicht', message: 'Wähle einen anderen.' },
      DUPLICATE_NAME: { title: 'Diesen Namen gibt es schon', message: 'Wähle einen anderen.' },
      INVALID_DESTINATION: { title: 'Dorthin geht es nicht', message: 'Wähle einen anderen Ort.' },
      MAX_DEPTH_EXCEEDED: {
        title: 'Diese Ordner sind zu tief verschachtelt',
        message: 'Wähle einen Ort weiter oben.',
      },
      METHOD_NOT_ALLOWED: {
        title: 'Das hat nicht geklappt',
        message: 'Diese Adresse ist für etwas anderes da.',
      },
      PRECONDITION_FAILED: {
        title: 'Das hat sich inzwischen geändert',
        message: 'Lade die Seite neu, um zu sehen, wie es jetzt ist.',
      },
      REQUEST_TIMEOUT: {
        title: 'Das hat zu lange gedauert',
        message: 'Die Verbindung stand still. Versuche es noch einmal.',
      },
      UNSUPPORTED_MEDIA_TYPE: {
        title: 'Das hat nicht geklappt',
        message: 'Diese Form wird hier nicht gelesen.',
      },
    },
  },
}
