import type { Paper } from './paper.ts';

/** Presentations. Each part is a slide. */
export const slides: readonly Paper[] = [
  {
    file: 'review-first-quarter.pptx',
    title: 'Review of the first quarter',
    parts: [
      { heading: 'Review of the first quarter', paragraphs: ['Figures and lessons of January to March'] },
      {
        heading: 'Revenue',
        paragraphs: ['Sales came to 14.2 million euros, up by six percent.', 'Humidifiers sold best because of a dry winter.'],
      },
      {
        heading: 'Costs',
        paragraphs: [
          'Freight was dearer by a fifth after the canal closed.',
          'Two agency contracts were ended, which saves 90,000 euros a year.',
        ],
      },
      {
        heading: 'People',
        paragraphs: ['Eleven new colleagues joined, four left.', 'The survey shows that noise in the open office annoys most.'],
      },
      { heading: 'Outlook', paragraphs: ['The second plant in Gdansk starts in May with one shift.'] },
    ],
  },
  {
    file: 'review-second-quarter.pptx',
    title: 'Review of the second quarter',
    parts: [
      { heading: 'Review of the second quarter', paragraphs: ['Figures and lessons of April to June'] },
      {
        heading: 'Revenue',
        paragraphs: [
          'Sales fell to 12.9 million euros since two chains cut their orders.',
          'Vacuum robots made up for a part of it.',
        ],
      },
      {
        heading: 'Costs',
        paragraphs: [
          'Electricity was bought ahead at 8.4 cents a kilowatt hour.',
          'Scrap at the moulding line doubled after the change of granulate.',
        ],
      },
      { heading: 'People', paragraphs: ['The works council agreed to flexible shifts.', 'Sick days went down to 3.1 percent.'] },
      { heading: 'Outlook', paragraphs: ['A recall of the kettle line is being examined by the lawyers.'] },
    ],
  },
  {
    file: 'review-third-quarter.pptx',
    title: 'Review of the third quarter',
    parts: [
      { heading: 'Review of the third quarter', paragraphs: ['Figures and lessons of July to September'] },
      {
        heading: 'Revenue',
        paragraphs: ['Sales reached 15.7 million euros, the best value ever.', 'Export to Japan began with 400 coffee machines.'],
      },
      {
        heading: 'Costs',
        paragraphs: [
          'Insurance rose by 11 percent after the flood.',
          'The new packing robot paid for itself within eight months.',
        ],
      },
      {
        heading: 'People',
        paragraphs: [
          'Nineteen apprentices started, more than ever before.',
          'A day nursery with thirty places opens next spring.',
        ],
      },
      { heading: 'Outlook', paragraphs: ['The board decides on the solar roof in December.'] },
    ],
  },
  {
    file: 'roadmap.pptx',
    title: 'Product roadmap',
    parts: [
      { heading: 'Product roadmap', paragraphs: ['What we build until the end of next year'] },
      {
        heading: 'Kitchen',
        paragraphs: [
          'An induction hob that finds pots by itself comes in autumn under the name Ignis.',
          'Bread makers are dropped for lack of demand.',
        ],
      },
      {
        heading: 'Laundry',
        paragraphs: ['A heat pump dryer follows the washing machine; its prototype dries 7 kg in 95 minutes.'],
      },
      {
        heading: 'Network',
        paragraphs: ['The next router speaks Thread and Matter.', 'Voice control stays out until it works without the cloud.'],
      },
      {
        heading: 'Milestones',
        table: {
          header: ['Milestone', 'Date', 'Owner'],
          rows: [
            ['Ignis prototype', '14 February', 'Chiara Rossi'],
            ['Dryer field test', '3 May', 'Oskar Lund'],
            ['Router launch', '21 September', 'Priya Nair'],
            ['Trade fair Milan', '8 October', 'Hugo Martin'],
          ],
        },
      },
    ],
  },
  {
    file: 'onboarding.pptx',
    title: 'Welcome to the company',
    parts: [
      { heading: 'Welcome to the company', paragraphs: ['What to know in the first week'] },
      {
        heading: 'Your first day',
        paragraphs: [
          'Pick up your badge at the gate house from 7:30; bring your identity card.',
          'A buddy shows you round and has lunch with you.',
        ],
      },
      {
        heading: 'Canteen',
        paragraphs: [
          'Lunch is served from 11:30 to 13:45. The badge is the purse: load it at the blue machine beside the stairs.',
        ],
      },
      {
        heading: 'Getting here',
        paragraphs: [
          'Tram 17 stops at the gate. Bicycles have a roof behind house 3; the code of the door is given out by reception.',
        ],
      },
      {
        heading: 'Whom to ask',
        paragraphs: ['Computers: extension 4100. Salary: extension 4230. Keys and doors: extension 4305.'],
      },
    ],
  },
];
