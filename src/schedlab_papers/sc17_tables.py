"""What SC'17 prints: Table 3, the four best functions, and Table 4, medians on its workloads."""

from __future__ import annotations

from schedlab_papers.sequences import SequenceLog, Study

TABLE_4 = Study(
    "sc17",
    "SC'17 (Carastan-Santos & de Camargo), Table 4: median over the sequences of the mean bounded slowdown",
    logs=(
        SequenceLog(
            "model 256",
            "synthetic/gen-sched-policies-2017/lublin_256_est.swf.gz",
            256,
            {
                "actual": (5846.87, 3630.66, 1799.74, 943.59, 583.89, 89.93, 29.65, 29.58),
                "estimates": (5846.87, 6021.69, 3561.56, 4415.27, 719.88, 405.68, 207.05, 33.03),
                "backfilling": (842.66, 654.81, 470.72, 623.86, 329.49, 163.74, 45.72, 32.82),
            },
        ),
        SequenceLog(
            "model 1024",
            "synthetic/gen-sched-policies-2017/lublin_1024_est.swf.gz",
            1_024,
            {
                "actual": (10315.62, 7759.03, 4310.26, 4061.44, 1518.73, 831.18, 244.80, 217.13),
                "estimates": (10315.62, 9713.40, 5930.50, 7573.58, 2605.45, 2065.47, 1292.64, 249.80),
                "backfilling": (3018.94, 3792.40, 2804.38, 3024.49, 1571.95, 1055.82, 490.77, 223.52),
            },
        ),
        SequenceLog(
            "Curie",
            "CEA-Curie-2011-2.1-cln.swf.gz",
            93_312,
            {
                "actual": (227.67, 182.95, 93.76, 132.59, 20.25, 10.66, 3.58, 10.38),
                "estimates": (227.67, 251.54, 135.53, 213.03, 48.45, 24.98, 12.47, 21.85),
                "backfilling": (59.03, 49.23, 24.35, 35.72, 24.54, 23.91, 18.69, 21.73),
            },
            cut=12,
            skip=(0, 7),
            trimmed={
                "actual": {"FCFS": 2, "WFP": 2, "UNI": 2, "SPT": 2},
                "estimates": {"FCFS": 2, "WFP": 2, "UNI": 2, "SPT": 2},
                "backfilling": {"WFP": 1, "UNI": 2, "SPT": 1},
            },
        ),
        SequenceLog(
            "ANL Intrepid",
            "ANL-Intrepid-2009-1.swf.gz",
            163_840,
            {
                "actual": (30.04, 11.78, 6.03, 3.34, 1.94, 1.71, 1.87, 2.14),
                "estimates": (30.04, 17.82, 11.42, 5.44, 4.15, 3.15, 2.57, 2.64),
                "backfilling": (8.56, 6.00, 4.01, 3.70, 3.52, 2.87, 2.54, 2.64),
            },
            trimmed={"backfilling": {"SPT": 1}},
        ),
        SequenceLog(
            "SDSC Blue",
            "SDSC-BLUE-2000-4.2-cln.swf.gz",
            1_152,
            {
                "actual": (299.83, 44.40, 20.37, 21.77, 14.33, 10.38, 4.31, 10.22),
                "estimates": (299.83, 94.87, 39.69, 36.42, 24.26, 10.16, 9.88, 12.14),
                "backfilling": (36.40, 17.76, 13.07, 10.20, 9.37, 10.18, 9.66, 11.97),
            },
        ),
        SequenceLog(
            "CTC SP2",
            "CTC-SP2-1996-3.1-cln.swf.gz",
            338,
            {
                "actual": (439.72, 309.72, 29.87, 87.55, 19.02, 14.06, 5.32, 10.27),
                "estimates": (439.72, 369.93, 98.58, 290.39, 31.23, 21.58, 13.78, 15.14),
                "backfilling": (74.96, 54.32, 24.06, 17.32, 14.12, 14.40, 10.77, 14.07),
            },
        ),
    ),
)
