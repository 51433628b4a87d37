echo 1 >> @GATE@/ran.log; while [ ! -e @GATE@/go ]; do sleep 0.1; done; echo made by 1 > made.txt
echo 2 >> @GATE@/ran.log; while [ ! -e @GATE@/go ]; do sleep 0.1; done; echo made by 2 > made.txt
echo 3 >> @GATE@/ran.log; while [ ! -e @GATE@/go ]; do sleep 0.1; done; echo made by 3 > made.txt
echo 4 >> @GATE@/ran.log; while [ ! -e @GATE@/go ]; do sleep 0.1; done; echo made by 4 > made.txt
