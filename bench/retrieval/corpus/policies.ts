import type { Paper } from './paper.ts';

/** Company policies as prose. */
export const policies: readonly Paper[] = [
  {
    file: 'leave-policy.docx',
    title: 'Leave policy',
    parts: [
      {
        heading: 'Annual leave',
        paragraphs: [
          'Everybody has 28 days of paid annual leave. Days that are not taken by the end of March of the following year are forfeited, except where illness or a project kept somebody from taking them.',
          'Requests are made in the portal at least two weeks ahead; the team lead answers within three working days.',
        ],
      },
      {
        heading: 'Parental leave',
        paragraphs: [
          'After the birth or adoption of a child each parent may stay at home for 16 weeks with full pay. The time may be split into three blocks until the second birthday. The job is kept open.',
        ],
      },
      {
        heading: 'Sick leave',
        paragraphs: [
          'Whoever falls ill tells the team lead by nine in the morning. From the fourth day a certificate of a physician is needed. Pay goes on for six weeks.',
        ],
      },
      {
        heading: 'Bereavement',
        paragraphs: [
          'When a close relative dies, five days off are granted with pay; two days for grandparents and in-laws. No proof is asked for.',
        ],
      },
      {
        heading: 'Sabbatical',
        paragraphs: [
          'After seven years of service an unpaid break of up to six months is possible. It is agreed with the head of department half a year ahead, and pension payments are suspended meanwhile.',
        ],
      },
      {
        heading: 'Volunteering',
        paragraphs: [
          'Two days a year can be spent on work for a charity. Fire fighters and rescue teams are released whenever they are called.',
        ],
      },
    ],
  },
  {
    file: 'travel-expenses.pdf',
    title: 'Travel and expenses',
    parts: [
      {
        heading: 'Booking',
        paragraphs: [
          'Trains are preferred for journeys below five hours. Flights are booked in economy class; business class is allowed when a flight lasts longer than nine hours. All bookings go through the agency Wayfare.',
        ],
      },
      {
        heading: 'Hotels',
        paragraphs: [
          'A room may cost up to 140 euros a night, in London, Zurich and New York up to 220. Breakfast is included in the limit. Private lodging is rewarded with 25 euros a night.',
        ],
      },
      {
        heading: 'Meals',
        paragraphs: [
          'The daily allowance is 34 euros for a whole day abroad and 18 euros for a day of departure or return. Meals that a host pays for are deducted.',
        ],
      },
      {
        heading: 'Own car',
        paragraphs: [
          'Kilometres in a private vehicle are refunded with 38 cents each. Fines and parking tickets are never paid back.',
        ],
      },
      {
        heading: 'Claims',
        paragraphs: [
          'Receipts are photographed and handed in within thirty days after the journey. Money is transferred with the next salary. Claims above 2,000 euros need the signature of a director.',
        ],
      },
      {
        heading: 'Lost receipts',
        paragraphs: [
          'Where a receipt is lost, a self-made note with date, place, amount and reason is accepted three times a year.',
        ],
      },
    ],
  },
  {
    file: 'information-security.md',
    title: 'Information security rules',
    parts: [
      {
        heading: 'Passwords',
        paragraphs: [
          'A passphrase has at least 14 characters and is kept in the vault KeyNest. It is changed only when it may have leaked. Sharing accounts is forbidden.',
        ],
      },
      {
        heading: 'Second factor',
        paragraphs: [
          'Every login from outside asks for a hardware token or the phone app. Codes by text message are not accepted. A lost token is reported to the help desk within an hour.',
        ],
      },
      {
        heading: 'Devices',
        paragraphs: [
          'Hard disks are encrypted. The screen locks itself after four minutes. Software is installed from the catalogue only; exceptions are granted by the security office.',
        ],
      },
      {
        heading: 'Suspicious mail',
        paragraphs: [
          'Do not click on links in messages that press for time. Forward them to phish@corp.example and delete them. Nobody is blamed for reporting a mistake quickly.',
        ],
      },
      {
        heading: 'Classification',
        paragraphs: [
          'Documents are public, internal, confidential or secret. Confidential papers go to the shredder of class P-5, secret ones stay in the safe of the board.',
        ],
      },
      {
        heading: 'Incidents',
        paragraphs: [
          'Call extension 4477 around the clock. The first hour decides: disconnect the cable, leave the machine on, and write down what you saw.',
        ],
      },
    ],
  },
  {
    file: 'remote-work.html',
    title: 'Working from home',
    parts: [
      {
        heading: 'Who may',
        paragraphs: [
          'After the probation period of four months, staff may work from home on up to three days a week. Laboratory and warehouse staff are excepted.',
        ],
      },
      {
        heading: 'Reachability',
        paragraphs: ['Between ten and three everybody can be reached by chat and phone. Meetings with cameras are not a duty.'],
      },
      {
        heading: 'Equipment',
        paragraphs: [
          'The company lends a laptop, a screen and a chair. For desk and lamp a single grant of 300 euros is paid; it has to be given back when somebody leaves within a year.',
        ],
      },
      {
        heading: 'Abroad',
        paragraphs: [
          'Working from another country is possible for 20 days a year inside the Union. Outside of it the tax office has to be asked first.',
        ],
      },
      {
        heading: 'Costs',
        paragraphs: ['Electricity and internet are settled with 1.20 euros for each day at home, at most 240 euros a year.'],
      },
    ],
  },
  {
    file: 'procurement.docx',
    title: 'Procurement guideline',
    parts: [
      {
        heading: 'Thresholds',
        table: {
          header: ['Value', 'Offers needed', 'Who signs'],
          rows: [
            ['up to 500 euros', 'none', 'team lead'],
            ['up to 5,000 euros', 'three', 'head of department'],
            ['up to 50,000 euros', 'three and a comparison', 'managing director'],
            ['above 50,000 euros', 'public tender', 'board'],
          ],
        },
      },
      {
        heading: 'Suppliers',
        paragraphs: [
          'A new supplier fills in form SUP-07 and states how it treats its workers. Suppliers with headquarters in embargoed countries are refused.',
        ],
      },
      {
        heading: 'Green buying',
        paragraphs: [
          'Of two offers that differ by less than eight percent the one with the smaller footprint wins. Paper is recycled, catering without meat unless guests ask for it.',
        ],
      },
      {
        heading: 'Payment',
        paragraphs: [
          'Invoices are paid within 21 days; within ten days with two percent discount. Advance payment is allowed only against a bank guarantee.',
        ],
      },
      {
        heading: 'Conflicts of interest',
        paragraphs: ['Whoever has a relative at a supplier tells the compliance office and takes no part in the choice.'],
      },
    ],
  },
  {
    file: 'data-retention.pdf',
    title: 'Data retention schedule',
    parts: [
      {
        heading: 'Periods',
        table: {
          header: ['Record', 'Kept for', 'Legal basis'],
          rows: [
            ['Invoices', '10 years', 'Tax code 147'],
            ['Applications of candidates', '6 months', 'Equal treatment act'],
            ['Payroll records', '6 years', 'Commercial code 257'],
            ['Video surveillance', '72 hours', 'Data protection act 4'],
            ['Access logs', '90 days', 'Security rules'],
            ['Medical checks', '40 years', 'Hazardous substances order'],
          ],
        },
      },
      {
        heading: 'Deletion',
        paragraphs: [
          'The archive deletes records in the first week of January. Backups are overwritten after 35 days, so something deleted is gone for good five weeks later.',
        ],
      },
      {
        heading: 'Legal hold',
        paragraphs: [
          'When a lawsuit is expected, the legal department freezes deletion. Whoever destroys papers under hold risks dismissal.',
        ],
      },
      {
        heading: 'Requests of individuals',
        paragraphs: [
          'People may ask what is stored about them. The answer is due within one month and costs nothing. Identity is checked by a second channel.',
        ],
      },
    ],
  },
  {
    file: 'code-of-conduct.md',
    title: 'Code of conduct',
    parts: [
      {
        heading: 'Gifts',
        paragraphs: [
          'Presents worth more than 35 euros are politely refused or handed to the raffle. Invitations to sports events always need consent of the compliance office.',
        ],
      },
      {
        heading: 'Respect',
        paragraphs: [
          'Insults, unwanted touching and jokes about origin or faith are not tolerated. Those who experience them can turn to the ombudsperson Dr. Ilse Brandt in confidence.',
        ],
      },
      {
        heading: 'Speaking up',
        paragraphs: [
          'Wrongdoing can be reported without a name through the line 0800 55 12 12. Retaliation against those who report is itself a breach of this code.',
        ],
      },
      {
        heading: 'Side jobs',
        paragraphs: [
          'A second job is declared beforehand. It is refused where it helps a competitor or takes more than ten hours a week.',
        ],
      },
      {
        heading: 'Social media',
        paragraphs: ['Say clearly that you speak for yourself. Photographs of colleagues are posted only with their agreement.'],
      },
    ],
  },
  {
    file: 'health-safety.docx',
    title: 'Health and safety',
    parts: [
      {
        heading: 'Fire',
        paragraphs: [
          'When the siren sounds, leave by the nearest stairs and gather at the flag poles beside car park C. Lifts stay where they are. Wardens with yellow vests count heads.',
        ],
      },
      {
        heading: 'First aid',
        paragraphs: [
          'Defibrillators hang on the ground floor of houses 2 and 5. Every accident, however small, is written into the green book.',
        ],
      },
      {
        heading: 'Screens',
        paragraphs: ['Eyes are examined every three years at the cost of the company. Special glasses are paid with 150 euros.'],
      },
      {
        heading: 'Chemicals',
        paragraphs: [
          'Acids are stored below eye level and never above alkalis. Gloves of nitrile are worn when pouring. The shower at door L4 is tested on Mondays.',
        ],
      },
      {
        heading: 'Ladders',
        paragraphs: [
          'Ladders above three metres are used by two people. A tag shows the last inspection; without a valid tag a ladder is not climbed.',
        ],
      },
    ],
  },
];
